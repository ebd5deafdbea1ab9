// Checks on an unchanged tree: two runs, each in its own worktree of the same commit. The program notes each of its runs in a file.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runCheck } from "../src/attempt/checks/run-check.ts";
import { openRunners } from "../src/runner/open.ts";
import { openSqliteStore } from "../src/store/sqlite/open.ts";
import { createWorkspaces } from "../src/workspace/providers.ts";
import { inFolder, type Row, sample } from "./measure.ts";

const CHECKS = 5;

export async function measureChecks(base: string): Promise<Row[]> {
  return inFolder(base, async (dir) => {
    const project = makeRepository(join(dir, "project"));
    const home = join(dir, "home");
    mkdirSync(home, { mode: 0o700 });
    const workspaces = createWorkspaces({ home, settings: { sandbox: "worktree" }, environment: process.env })(
      "worktree",
    );
    const runners = openRunners(process.env, { programs: {}, passEnvironment: [] });
    const store = openSqliteStore({ file: join(home, "passrail.db") });
    const log = join(dir, "ran");
    const note = (index: number): readonly string[] => [
      process.execPath,
      "-e",
      `require("fs").appendFileSync(${JSON.stringify(log)}, "${index}\\n")`,
    ];
    const checkAll = async (runId: string): Promise<void> => {
      const opened = await workspaces.open({ runId, project, branch: `feat/${runId}` });
      if (!opened.ok) throw new Error(opened.error.message);
      const state = await workspaces.tree?.(opened.value);
      if (state?.ok !== true) throw new Error("the tree cannot be read");
      const { commit, tree } = state.value;
      for (let index = 0; index < CHECKS; index++)
        await runCheck(
          { name: `check-${index}`, run: note(index), timeoutMs: 60_000, env: [] },
          {
            dir: opened.value.dir,
            commit,
            tree,
            isExact: true,
            prefix: "",
            kind: "worktree",
            env: {},
            marker: `bench/${runId}`,
            logFile: (name) => join(dir, `${runId}-${name}.log`),
            by: { runId, stage: "build", attempt: 1 },
            confinement: {},
          },
          {
            runners,
            findCached: (key, now) => store.findCheck(key, now),
            saveCached: (check) => store.saveCheck(check),
            now: () => new Date().toISOString(),
            signal: new AbortController().signal,
          },
        );
    };
    const first = await sample(() => checkAll("first"));
    const ran = linesOf(log);
    const second = await sample(() => checkAll("second"));
    await runners.desk.close();
    store.close();
    const ms = (value: number): string => `${Math.round(value)} ms`;
    return [
      {
        name: "checks that run again on an unchanged tree",
        value: linesOf(log) - ran,
        unit: "",
        limit: { is: "at most", value: 0 },
        note: `${ran} of ${CHECKS} in the first run; ${ms(first.wallMs)} and ${ms(second.wallMs)} with the workspace`,
      },
    ];
  });
}

function linesOf(file: string): number {
  return existsSync(file) ? readFileSync(file, "utf8").split("\n").length - 1 : 0;
}

function makeRepository(dir: string): string {
  mkdirSync(dir);
  writeFileSync(join(dir, "a.txt"), "a\n");
  const git = (...args: string[]): string => execFileSync("git", ["-C", dir, ...args], { encoding: "utf8" });
  git("init", "--quiet", "--initial-branch=main");
  git("add", "--all");
  git("-c", "user.name=b", "-c", "user.email=b@localhost", "commit", "--quiet", "-m", "files");
  return dir;
}
