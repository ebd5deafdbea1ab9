import { expect, test } from "vitest";
import { programsIn } from "./trust/named-programs.ts";
import { readSettings } from "./settings.ts";

const read = (project: unknown, user?: unknown, environment: Record<string, string> = {}) =>
  readSettings({ environment, project, user, flags: {} });

test("a check is a list of words or has keys; the project's definition wins over the user's by name", () => {
  const project = { checks: { test: { run: ["npm", "test"], timeout: "30s", parse: "vitest", env: ["CI"] } } };
  const user = { checks: { test: ["make"], types: ["tsc"] } };
  expect(read(project, user)).toMatchObject({
    ok: true,
    value: {
      checks: {
        test: { run: ["npm", "test"], timeoutMs: 30_000, parse: "vitest", env: ["CI"] },
        types: { run: ["tsc"], timeoutMs: 600_000, env: [] },
      },
    },
  });
  expect(read({})).toMatchObject({ ok: true, value: { checks: {}, checkCache: { value: true } } });
});

test.each([
  ["a shell line", { test: "npm test" }],
  ["no program", { test: [] }],
  ["the reserved name", { all: ["make"] }],
  ["a name of every object", { constructor: ["make"] }],
  ["a name that leaves its folder", { "../x": ["make"] }],
  ["an unknown tool", { test: { run: ["make"], parse: "mocha" } }],
  ["junit without its file", { test: { run: ["make"], parse: "junit" } }],
  ["a key that nobody knows", { test: { run: ["make"], shell: true } }],
])("%s is refused", (_what, checks) => {
  expect(read({ checks })).toMatchObject({ ok: false, error: { code: "invalid_setting" } });
});

test("the cache can be turned off by file and environment", () => {
  expect(read({ check_cache: "off" })).toMatchObject({ ok: true, value: { checkCache: { value: false } } });
  const env = { PASSRAIL_CHECK_CACHE: "off" };
  expect(read({}, undefined, env)).toMatchObject({ ok: true, value: { checkCache: { from: "environment" } } });
  expect(read({ check_cache: "maybe" })).toMatchObject({ ok: false });
});

test("merge.checks may name checks beside lists, as before; an unknown name is an error", () => {
  const checks = { test: ["npm", "test"] };
  expect(read({ checks, merge: { checks: ["test", ["make", "all"]] } })).toMatchObject({
    ok: true,
    value: {
      merge: {
        checks: [
          ["npm", "test"],
          ["make", "all"],
        ],
      },
    },
  });
  expect(read({ checks, merge: { checks: ["tests"] } })).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining('there is no check "tests"') },
  });
});

test("scripts of the repository that checks name are among the files that need an approval", () => {
  const value = { checks: { a: ["./a.sh"], b: { run: ["sh", "./b.sh && ./c.sh"], timeout: "1m" } } };
  expect(programsIn(value).map(({ word }) => word)).toEqual(expect.arrayContaining(["./a.sh", "./b.sh", "./c.sh"]));
});
