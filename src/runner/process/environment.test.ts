import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { PROGRAMS } from "../../core/flow/runner-names.ts";
import { childEnvironment, runnerEnvironment, secretsOf } from "./environment.ts";

const ALWAYS = ["HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "PATH", "SHELL", "TERM", "TMPDIR", "TZ", "USER"];
const FOREIGN = ["SSH_AUTH_SOCK", "GITHUB_TOKEN", "PASSRAIL_TOKEN", "DATABASE_URL", "NODE_OPTIONS", "LD_PRELOAD"];

/** A parent that has every known name. */
const everything = [...ALWAYS, ...FOREIGN, ...PROGRAMS.flatMap((runner) => runnerEnvironment(runner))];
const parent = Object.fromEntries(everything.map((name) => [name, `value of ${name}`]));

test.each(PROGRAMS)("S09: a program of the runner %s sees the allow-list and nothing else", async (runner) => {
  const pass = [...runnerEnvironment(runner), "MY_OWN", "NOT_SET"];
  const env = childEnvironment({ ...parent, MY_OWN: "mine" }, { DECLARED: "yes", TERM: "dumb" }, pass);
  const { stdout } = await promisify(execFile)(process.execPath, ["-p", "JSON.stringify(process.env)"], {
    env: { NODE_V8_COVERAGE: undefined, ...env },
  });
  const seen = JSON.parse(stdout) as Record<string, string>;
  const names = [...new Set([...ALWAYS, ...runnerEnvironment(runner), "MY_OWN", "DECLARED"])];
  expect(Object.keys(seen).toSorted()).toEqual(names.toSorted());
  expect(seen).toMatchObject({ PATH: "value of PATH", MY_OWN: "mine", DECLARED: "yes", TERM: "dumb" });
});

test("programs that we do not know get nothing by themselves", () => {
  expect(runnerEnvironment("command")).toEqual([]);
  expect(runnerEnvironment("acp")).toEqual([]);
});

test("each program gets the way to its own vendor, and none that of another's", () => {
  expect(runnerEnvironment("claude")).toContain("ANTHROPIC_API_KEY");
  expect(runnerEnvironment("claude")).not.toContain("OPENAI_API_KEY");
  expect(runnerEnvironment("codex")).not.toContain("ANTHROPIC_API_KEY");
  expect(runnerEnvironment("gemini")).not.toContain("ANTHROPIC_API_KEY");
  for (const runner of ["claude", "codex", "gemini", "opencode"] as const)
    expect(runnerEnvironment(runner)).toEqual(
      expect.arrayContaining(["HTTPS_PROXY", "no_proxy", "NODE_EXTRA_CA_CERTS"]),
    );
});

describe("S09: what is secret in an environment", () => {
  const namesOf = (environment: Record<string, string | undefined>) => secretsOf(environment).map(({ name }) => name);

  test.each([
    "ANTHROPIC_API_KEY",
    "GITHUB_TOKEN",
    "GITHUB_TOKEN_2",
    "S3_KEY2",
    "AWS_SECRET_ACCESS_KEY",
    "DB_PASSWORD",
    "PGPASSWORD",
    "MYSQL_PWD",
    "API_KEY_PROD",
    "npm_config__auth",
    "GOOGLE_CREDENTIALS",
    "CLIENT_SECRET",
    "SIGNING_PASSPHRASE",
  ])("%s by its name", (name) => {
    expect(secretsOf({ [name]: "v-1234567" })).toEqual([{ name, value: "v-1234567" }]);
  });

  test.each([
    ["PATH", "/usr/bin:/bin"],
    ["PWD", "/home/me/project"],
    ["OLDPWD", "/home/me"],
    ["KEYBOARD_LAYOUT", "de-latin1"],
    ["MAX_THINKING_TOKENS", "1234567"],
    ["SSH_AUTH_SOCK", "/run/user/1000/ssh"],
    ["GOOGLE_APPLICATION_CREDENTIALS", "/home/me/key.json"],
    ["AWS_WEB_IDENTITY_TOKEN_FILE", "/var/run/token"],
    ["SSH_KEY_PATH", "/home/me/.ssh/id"],
    ["TOKEN_TYPE", "something"],
    ["EDITOR", "vim"],
    ["EMPTY_TOKEN", ""],
    ["GONE_TOKEN", undefined],
  ])("not %s", (name, value) => {
    expect(namesOf({ [name]: value })).toEqual([]);
  });

  test("a value with the shape of a key, whatever it is called; of an address also the password by itself", () => {
    expect(namesOf({ MY_VARIABLE: `ghp_${"x9".repeat(18)}`, AWS_ACCESS_KEY_ID: "AKIAIOSFODNN7EXAMPLE" })).toEqual([
      "MY_VARIABLE",
      "AWS_ACCESS_KEY_ID",
    ]);
    expect(secretsOf({ DATABASE_URL: "postgres://me:hun%21ter2@db/x" }).map(({ value }) => value)).toEqual([
      "postgres://me:hun%21ter2@db/x",
      "hun!ter2",
    ]);
  });
});
