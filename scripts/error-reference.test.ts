import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { errorCodes } from "./error-codes.ts";
import { ERRORS_PATH, productCodes } from "./error-reference.ts";

const ROOT = join(import.meta.dirname, "..");
/** Words in the same place that are no problems: how a webhook was taken, how a landing stands, a library's own. */
const NO_PROBLEMS = new Set(["already_done", "ignored_event", "not_needed"]);

test("docs/errors.md has an entry for every code of the source; node scripts/error-reference.ts writes it", () => {
  const entries = new Set([...readFileSync(ERRORS_PATH, "utf8").matchAll(/^## (\S+)$/gmu)].map(([, code]) => code));
  const codes = productCodes();
  expect(codes.length).toBeGreaterThan(400);
  // Found by the text alone, so that a shape which the reader of the syntax does not know is noticed.
  const written = globSync("src/**/*.ts", { cwd: ROOT })
    .filter((path) => !/\.(test|testsuite)\.ts$/u.test(path))
    .flatMap((path) => [
      ...readFileSync(join(ROOT, path), "utf8").matchAll(
        /(?:\bcode: |(?:usageError|CliError|StoreError)\(\s*)"([a-z]+(?:_[a-z0-9]+)+)"/gu,
      ),
    ])
    .map(([, code = ""]) => code);
  expect(
    [...new Set([...written, ...codes.map(({ code }) => code)])].filter(
      (code) => !entries.has(code) && !NO_PROBLEMS.has(code),
    ),
  ).toEqual([]);
  expect([...entries].filter((code) => !codes.some((each) => each.code === code))).toEqual([]);
});

test("the words of a problem are those of the source, with … for what only the moment knows", () => {
  const text = `const HINT = "passrail list";
    function a(name: string) {
      const message = \`There is no \${name}.\`;
      return { code: "thing_missing", message, hint: HINT };
    }
    throw usageError("thing_twice", \`\${flag} twice\`, ["once", "or never"].join("\\n"));`;
  expect(errorCodes(new Map([["src/app/a.ts", text]]))).toEqual([
    { code: "thing_missing", messages: ["There is no …."], hints: ["passrail list"], folders: ["app"] },
    { code: "thing_twice", messages: ["… twice"], hints: ["once\nor never"], folders: ["app"] },
  ]);
});
