// How the built program starts: what it keeps for the next start, what it says of itself when something fails, whose code it contains.

import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { ROOT } from "../../harness/build-once.ts";
import { PROGRAM, PROGRAM_FOLDER } from "../../harness/program.ts";

const dir = mkdtempSync(join(tmpdir(), "passrail-start-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const { NODE_COMPILE_CACHE: _shared, ...environment } = process.env;

test("a command keeps its compiled code in the state folder, and makes no state folder to look", () => {
  const home = join(dir, "home");
  const list = () =>
    execFileSync(process.execPath, [PROGRAM, "--home", home, "runs", "list"], { env: environmentOf(home) });
  list();
  expect(existsSync(home)).toBe(false);
  mkdirSync(home, { mode: 0o700 });
  list();
  const kept = readdirSync(join(home, "compiled"), { recursive: true, withFileTypes: true }).filter((file) =>
    file.isFile(),
  );
  expect(kept.length).toBeGreaterThan(2);
});

test("PASSRAIL_DEBUG=1 shows a stack with the lines of the source", () => {
  const home = join(dir, "none");
  const { stderr } = spawnSync(process.execPath, [PROGRAM, "--home", home, "runs", "show", "1"], {
    env: { ...environmentOf(home), PASSRAIL_DEBUG: "1" },
    encoding: "utf8",
  });
  expect(stderr).toMatch(/at requireRun \(.*src\/cli\/find-run\.ts:\d+:\d+\)/u);
});

test("the licences of all packages in the program are beside it", () => {
  const text = readFileSync(join(PROGRAM_FOLDER, "LICENSES.md"), "utf8");
  const { dependencies } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  for (const [name, version] of Object.entries(dependencies)) expect(text).toContain(`## ${name} ${version} (`);
  expect(text.match(/Permission (?:is hereby granted|to use, copy)|Apache License/gu)?.length).toBeGreaterThan(8);
});

function environmentOf(home: string): NodeJS.ProcessEnv {
  return { ...environment, PASSRAIL_HOME: home };
}
