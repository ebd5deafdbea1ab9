// Setup commands that make a fresh workspace usable: installing packages, building test dependencies. They run in order, confined if the
// workspace confines; the first failure fails the workspace.

import { spawn } from "node:child_process";
import {
  accessSync,
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readSync,
  fstatSync,
  statSync,
  writeSync,
} from "node:fs";
import { delimiter, dirname, isAbsolute, join, resolve } from "node:path";
import { err, ok, type Problem, type Result } from "../core/result.ts";
import type { Workspace, Workspaces } from "./workspace.ts";

export type Setup = {
  readonly commands: readonly (readonly string[])[];
  readonly workspace: Workspace;
  readonly confine: Workspaces["confine"];
  readonly env: Readonly<Record<string, string>>;
  /** The file with their output. */
  readonly log: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
};

const SHOWN_BYTES = 4000;
const SHOWN_LINES = 20;
const LOG_BYTES = 20 * 1024 * 1024;

/** The variables that package managers and compilers need from Passrail's environment, and no keys. */
const PASSED = ["PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR", "XDG_CACHE_HOME"];

export function setupEnvironment(environment: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const known = PASSED.flatMap((name) => (environment[name] === undefined ? [] : [[name, environment[name]]]));
  const env = Object.fromEntries(known) as Record<string, string>;
  // A relative entry would find programs in the workspace.
  return { ...env, PATH: (env["PATH"] ?? "").split(delimiter).filter(isAbsolute).join(delimiter) };
}

export async function runSetup(setup: Setup): Promise<Result<null>> {
  mkdirSync(dirname(setup.log), { recursive: true, mode: 0o700 });
  const log = openSync(setup.log, "a+", 0o600);
  try {
    for (const command of setup.commands) {
      writeSync(log, `$ ${command.join(" ")}\n`);
      const ended = await runCommand(setup, command, log);
      if (ended !== null) return err(failed(setup, command, ended, lastLines(log)));
    }
    return ok(null);
  } finally {
    closeSync(log);
  }
}

/** Why it failed; null if it did not. */
async function runCommand(setup: Setup, command: readonly string[], log: number): Promise<string | null> {
  const { workspace, env, timeoutMs, signal } = setup;
  if (signal?.aborted === true) return "it was canceled";
  const [name = "", ...args] = command;
  const program = findProgram(name, workspace.dir, env["PATH"] ?? "");
  if (program === null) return `there is no program ${name}`;
  const launch = {
    argv: [program, ...args] as const,
    program: name,
    cwd: workspace.dir,
    env,
    folders: workspace.folders ?? [],
  };
  const inside = setup.confine === undefined ? ok(launch) : await setup.confine(workspace, launch);
  if (!inside.ok) return inside.error.message;
  const [first, ...rest] = inside.value.argv;
  return new Promise((done) => {
    const child = spawn(first, rest, {
      cwd: inside.value.cwd,
      env: { ...inside.value.env },
      stdio: ["ignore", log, log],
      detached: true,
    });
    let why: string | null = null;
    const end = (reason: string): void => {
      why ??= reason;
      endGroup(child.pid);
    };
    const onAbort = (): void => end("it was canceled");
    const late = setTimeout(() => end(`it took longer than ${Math.round(timeoutMs / 60_000)} minutes`), timeoutMs);
    // Output goes straight to the file; this stops a flood.
    const flood = setInterval(() => fstatSync(log).size > LOG_BYTES && end("it wrote more than 20 MiB"), 1000);
    signal?.addEventListener("abort", onAbort);
    const finish = (reason: string | null): void => {
      clearTimeout(late);
      clearInterval(flood);
      signal?.removeEventListener("abort", onAbort);
      // Also ends background processes that it left behind.
      endGroup(child.pid);
      done(why ?? reason);
    };
    child.once("error", (error) => finish(error.message));
    child.once("exit", (code, by) => finish(code === 0 ? null : `it ended with ${code ?? by}`));
  });
}

function endGroup(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // The whole group has already ended.
  }
}

function findProgram(name: string, cwd: string, path: string): string | null {
  const places = name.includes("/") ? [resolve(cwd, name)] : path.split(delimiter).map((folder) => join(folder, name));
  return places.find(isProgram) ?? null;
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function lastLines(log: number): string {
  const { size } = fstatSync(log);
  const bytes = Buffer.alloc(Math.min(size, SHOWN_BYTES));
  readSync(log, bytes, 0, bytes.length, size - bytes.length);
  const lines = bytes
    .toString("utf8")
    .replace(/[^\P{Cc}\n]/gu, "")
    .trimEnd()
    .split("\n");
  return lines.slice(-SHOWN_LINES).join("\n");
}

function failed({ log }: Setup, command: readonly string[], why: string, lines: string): Problem {
  return {
    code: "workspace_setup_failed",
    message: `The workspace could not be set up: ${command.join(" ").slice(0, 200)}: ${why}.\n${lines}`,
    hint: `The whole output: ${log}`,
  };
}
