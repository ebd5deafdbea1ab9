// Counts the git processes of a run, those that git itself starts included: a program `git` at the front of PATH lets the real one write down
// every start (GIT_TRACE2_EVENT). The run is in a process of its own (git-driver.ts), so nothing here changes the environment of others.

import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { GIT_DRIVER } from "./program.ts";

export type GitCase = {
  readonly mode: "in-place" | "worktree" | "clone";
  readonly per: "run" | "stage";
  /** What each agent does: nothing, leave changes, or commit them itself. */
  readonly work: "nothing" | "changes" | "commits";
  /** Files of the repository; default: one. */
  readonly files?: number;
  /** How long each agent works, in seconds; default: it ends at once. */
  readonly seconds?: number;
};

export type GitCounts = {
  /** Before the first agent. */
  readonly opening: readonly string[];
  /** From the start of each agent to the start of the next: its work is settled, the next workspace is opened. */
  readonly attempts: readonly (readonly string[])[];
  /** From the start of the last agent to the end of the run. */
  readonly closing: readonly string[];
};

/** Each process by its arguments. */
export async function countGit(one: GitCase): Promise<GitCounts> {
  const parts = partsOf(await logOf(one, true));
  return { opening: parts[1] ?? [], attempts: parts.slice(2, -1), closing: parts.at(-1) ?? [] };
}

/** From the end of each agent to the start of the next, in milliseconds, as the agents' own clocks say. Nothing is counted meanwhile. */
export async function gapsBetweenAgents(one: GitCase): Promise<readonly number[]> {
  const gaps: number[] = [];
  let ended: number | undefined;
  for (const line of (await logOf(one, false)).split("\n")) {
    const [word, at] = line.split(" ");
    if (word === "agent" && ended !== undefined) gaps.push(Number(at) / 1e6 - ended);
    ended = word === "done" ? Number(at) / 1e6 : undefined;
  }
  return gaps;
}

async function logOf(one: GitCase, isCounted: boolean): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), "passrail-count-"));
  try {
    const path = process.env["PATH"] ?? "";
    const log = join(dir, "log");
    const seen = isCounted ? countingPath(join(dir, "bin"), path, log) : path;
    const env = { ...process.env, PATH: seen, TMPDIR: dir };
    await promisify(execFile)(process.execPath, [GIT_DRIVER, JSON.stringify({ ...one, log, path })], { env });
    return readFileSync(log, "utf8");
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** A PATH on which a git comes first that writes down its starts. */
export function countingPath(folder: string, path: string, log: string): string {
  placeShim(folder, findGit(path), log);
  return `${folder}${delimiter}${path}`;
}

function placeShim(folder: string, git: string, log: string): void {
  mkdirSync(folder);
  writeFileSync(join(folder, "git"), `#!/bin/sh\nexport GIT_TRACE2_EVENT='${log}'\nexec '${git}' "$@"\n`);
  chmodSync(join(folder, "git"), 0o755);
}

function findGit(path: string): string {
  const found = path
    .split(delimiter)
    .map((folder) => join(folder, "git"))
    .find((file) => existsSync(file));
  if (found === undefined) throw new Error("There is no git on PATH.");
  return found;
}

/**
 * Split where an agent began; the first part makes the repository. The one that gets the next worktree ready is left out: it runs beside an
 * agent, and only if that works long enough.
 */
export function partsOf(log: string): string[][] {
  const parts: string[][] = [[]];
  for (const line of log.split("\n")) {
    if (line.startsWith("agent ")) parts.push([]);
    if (!line.startsWith("{")) continue;
    const event = JSON.parse(line) as { readonly event: string; readonly argv?: readonly string[] };
    const call = (event.argv ?? []).slice(1).join(" ");
    if (event.event === "start" && !call.includes(" read-tree --reset -u ")) parts.at(-1)?.push(call);
  }
  return parts;
}
