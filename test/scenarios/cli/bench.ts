// A place to call the real program in: a state folder, a repository with one commit, and scripted agents.

import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { approveFiles } from "../../harness/approve-files.ts";
import { newRepository } from "../../harness/new-repository.ts";
import { playerOf } from "../../harness/player.ts";
import { PROGRAM } from "../../harness/program.ts";

const root = fileURLToPath(new URL("../../..", import.meta.url));
export const CLI: string = PROGRAM;

export type Ended = { readonly code: number | null; readonly out: string; readonly err: string };

export type Bench = {
  readonly dir: string;
  readonly home: string;
  readonly project: string;
  /** Calls the program and waits for its end. Before each call the tester approves the project's files. */
  readonly passrail: (
    args: readonly string[],
    options?: { input?: string; env?: Record<string, string> },
  ) => Promise<Ended>;
  readonly start: (args: readonly string[], options?: { input?: string; env?: Record<string, string> }) => Started;
  /** `--agent` for all stages: plays the script by stage and loop. */
  readonly player: (script: Readonly<Record<string, unknown>>) => string;
  readonly scripted: (name: string, ...args: readonly string[]) => string;
  readonly remove: () => void;
};

export type Started = { readonly child: ChildProcess; readonly ended: Promise<Ended>; readonly err: () => string };

export function openBench(): Bench {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), "passrail-cli-")));
  const home = join(dir, "home");
  const project = newRepository(dir, "empty");
  const { PASSRAIL_MARKER: _marker, NO_COLOR: _color, ...environment } = process.env;
  const running = new Set<ChildProcess>();
  let scripts = 0;

  function start(args: readonly string[], options: { input?: string; env?: Record<string, string> } = {}): Started {
    approveFiles(home, project);
    const env = { ...environment, PASSRAIL_HOME: home, XDG_CONFIG_HOME: join(dir, "config"), ...options.env };
    const child = spawn(process.execPath, [CLI, ...args], { cwd: project, env, stdio: ["pipe", "pipe", "pipe"] });
    running.add(child);
    let out = "";
    let err = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
    // A program that refuses at once may end before it has read its input.
    child.stdin.on("error", () => {});
    child.stdin.end(options.input ?? "");
    const ended = new Promise<Ended>((resolve) =>
      child.once("close", (code) => {
        running.delete(child);
        resolve({ code, out, err });
      }),
    );
    return { child, ended, err: () => err };
  }

  return {
    dir,
    home,
    project,
    start,
    passrail: (args, options) => start(args, options).ended,
    player(script) {
      const file = join(dir, `script-${++scripts}.json`);
      writeFileSync(file, JSON.stringify(script));
      return playerOf(file).join(" ");
    },
    scripted: (name, ...args) => [process.execPath, join(root, "test/fixtures/scripted", name), ...args].join(" "),
    remove() {
      for (const child of running) child.kill("SIGKILL");
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** What the feature flow's agents say on the straight way. */
export const happyFeature = {
  spec: [{ via: "json-tail", verdict: "APPROVED" }],
  design: [{ via: "json-tail", verdict: "APPROVED" }],
  build: [{ via: "json-tail", verdict: "COMPLETE", write: { "a.txt": "1" }, commit: true }],
  qa: [{ via: "json-tail", verdict: "SHIP" }],
};

export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  ms: number = 20_000,
): Promise<void> {
  const deadline = Date.now() + ms;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`it did not happen in time: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // A zombie answers too, but does nothing any more.
    return !/\) Z /u.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return false;
  }
}

export function pidIn(file: string): number {
  return Number(readFileSync(file, "utf8"));
}
