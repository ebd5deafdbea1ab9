// The rows of the landing table, and the place of each: a project with a remote of its own, whose hooks and checks wait where the row says.

import { execFileSync } from "node:child_process";
import {
  closeSync,
  constants,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { runIdOf } from "../../../src/app/run-id.ts";
import type { Performer } from "../../../src/compose.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { onlyStages } from "../../harness/custom-flow.ts";

/** Where the landing is when it is disturbed: checks run before the intent, the remote has the push, the remote has accepted it. */
export const STEPS = ["checks", "pre-receive", "post-receive"] as const;
export const DISTURBANCES = ["nothing", "cancel", "edit", "kill", "kill, then cancel"] as const;
export const REMOTES = ["accepts", "refuses", "breaks"] as const;

export type Row = {
  readonly name: string;
  readonly step: (typeof STEPS)[number];
  readonly by: (typeof DISTURBANCES)[number];
  readonly remote: (typeof REMOTES)[number];
};

export const ROWS: readonly Row[] = STEPS.flatMap((step) =>
  DISTURBANCES.flatMap((by) =>
    // A remote that refuses has nothing to say after it has accepted.
    REMOTES.filter((remote) => step !== "post-receive" || remote !== "refuses").map((remote) => ({
      name: `${step}-${by}-${remote}`.replaceAll(/[ ,]+/gu, "-"),
      step,
      by,
      remote,
    })),
  ),
);

const GIT = ["-c", "user.name=t", "-c", "user.email=t@localhost", "-c", "core.hooksPath=/dev/null"];

function git(cwd: string, ...args: readonly string[]): string {
  return execFileSync("git", [...GIT, ...args], { cwd, encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
}

/** The base of all rows: a project with its remote, the agent, the check and the settings of the process. */
export function makeBase(dir: string): void {
  const project = join(dir, "base", "project");
  mkdirSync(project, { recursive: true });
  git(project, "init", "-q", "-b", "main");
  writeFileSync(join(project, "README.md"), "# project\n");
  git(project, "add", "-A");
  git(project, "commit", "-q", "-m", "first");
  git(project, "clone", "-q", "--bare", project, join(dir, "base", "remote.git"));
  git(project, "remote", "add", "origin", "REMOTE");
  const own = 'row="$1"; [ -n "$row" ] || row=$(cat row.txt); at="$0"; dir=$(dirname "$at")/$row';
  writeFileSync(join(dir, "agent.sh"), `${own}\necho "$row" > row.txt\n`);
  writeFileSync(join(dir, "check.sh"), `${own}\n${waitAt("$dir", "checks")}\n`);
  mkdirSync(join(dir, "process"));
  const merge = { poll: "100ms", checks: [["sh", join(dir, "check.sh")]] };
  writeFileSync(join(dir, "process", "passrail.yaml"), JSON.stringify({ merge }));
}

/** A pipe without a writer holds its reader and costs nothing. */
function waitAt(folder: string, step: string): string {
  const pipe = `"${folder}/hold-${step}"`;
  return `if [ -p ${pipe} ]; then : > "${folder}/held"; cat ${pipe} > /dev/null 2>&1 || :; fi`;
}

/** Open for both, which needs no reader: one that comes only now finds us at the other end, or no pipe any more. */
function letGo(pipe: string): void {
  const end = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
  rmSync(pipe);
  closeSync(end);
}

export type RowPlace = ReturnType<typeof makeRow>;

export function makeRow(dir: string, row: Row) {
  const own = join(dir, row.name);
  const [project, remote] = [join(own, "project"), join(own, "remote.git")];
  cpSync(join(dir, "base"), own, { recursive: true });
  const config = join(project, ".git", "config");
  writeFileSync(config, readFileSync(config, "utf8").replace("REMOTE", remote));
  mkdirSync(join(remote, "hooks"), { recursive: true });
  const hook = (name: string, text: string): void =>
    writeFileSync(join(remote, "hooks", name), `#!/bin/sh\ncat > /dev/null\n${text}\nexit 0\n`, { mode: 0o755 });
  const refuses = row.remote === "refuses" ? 'echo "protected branch" >&2; exit 1' : "";
  hook("pre-receive", `${waitAt(own, "pre-receive")}\n${refuses}`);
  hook("post-receive", `${waitAt(own, "post-receive")}\n${row.remote === "breaks" ? 'kill -9 "$PPID"' : ""}`);
  const file = join(project, "feature_requests", "FR-1", "AGI-7.md");
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, "---\nid: AGI-7\ntitle: t\nrepo: project\nstatus: Needs Implement\n---\nbody\n");
  const hold = join(own, `hold-${row.step}`);
  execFileSync("mkfifo", [hold]);
  const before = git(remote, "rev-parse", "main");
  return {
    project,
    before,
    file: () => readFileSync(file, "utf8"),
    edit: (status: string) =>
      writeFileSync(file, readFileSync(file, "utf8").replace(/^status: .*$/mu, `status: ${status}`)),
    isHeld: () => existsSync(join(own, "held")),
    letGo: () => letGo(hold),
    main: () => git(remote, "rev-parse", "main"),
    /** Commits on top of where the target was. */
    landed: () => Number(git(remote, "rev-list", "--count", `${before}..main`)),
  };
}

const FLOW = onlyStages("ticket", ["implement", "land"]);

export async function startRow({ engine }: Performer, dir: string, row: Row, project: string): Promise<string> {
  const runId = runIdOf(row.name);
  const facts: JsonObject = {
    config: { project, workspace: "worktree", merge_mode: "merge" },
    ticket: { repo: "project", status: "Needs Implement", project, file: "feature_requests/FR-1/AGI-7.md" },
    runners: { "*": ["sh", join(dir, "agent.sh"), row.name] },
  };
  await engine.startRun({
    runId,
    resolved: FLOW,
    subject: { id: "AGI-7", title: "t", body: "body" },
    facts,
    actor: "human:tester",
  });
  return runId;
}

export function optionsOf(dir: string, home: string) {
  return {
    home: join(dir, home),
    project: join(dir, "process"),
    environment: {
      PATH: process.env["PATH"],
      HOME: dir,
      GIT_CONFIG_GLOBAL: "/dev/null",
      XDG_CONFIG_HOME: join(dir, "config"),
    },
    // Every row that is held keeps its slot.
    flags: { slots: "64" },
    notifier: { notify: async () => true },
  };
}
