// The folder of an attempt's evidence: prompt, raw output, verdict, handoff, diff. Outside every workspace and new for each attempt, so
// that an older file cannot pass as its result.

import { createHash } from "node:crypto";
import { constants } from "node:fs";
import { lstat, mkdir, open, realpath, rename, writeFile } from "node:fs/promises";
import { dirname, join, sep } from "node:path";
import { isName } from "../core/flow/name.ts";

export type AttemptFiles = {
  readonly dir: string;
  readonly prompt: string;
  readonly output: string;
  /** The only one of these folders that the agent writes. */
  readonly result: string;
  readonly verdict: string;
  readonly handoff: string;
  /** The report accepted at the desk. */
  readonly submission: string;
  /** The events of the conversation, in Passrail's own format. */
  readonly events: string;
  readonly diff: string;
  readonly repairPrompt: string;
  readonly repairOutput: string;
};

export function attemptFiles(home: string, runId: string, stage: string, attempt: number): AttemptFiles {
  // The only place that builds these paths; both names were validated long before.
  if (!/^[a-z0-9][a-z0-9-]{0,63}$/u.test(runId) || !isName(stage))
    throw new Error(`not the name of an attempt: ${runId}/${stage}`);
  const dir = `${home}/runs/${runId}/${stage}-${attempt}`;
  return {
    dir,
    prompt: `${dir}/prompt.md`,
    output: `${dir}/output.log`,
    result: `${dir}/result`,
    verdict: `${dir}/result/verdict.json`,
    handoff: `${dir}/result/handoff.md`,
    submission: `${dir}/submission.json`,
    events: `${dir}/events.jsonl`,
    diff: `${dir}/changes.diff`,
    repairPrompt: `${dir}/repair-prompt.md`,
    repairOutput: `${dir}/repair-output.log`,
  };
}

export async function openAttempt(files: AttemptFiles): Promise<void> {
  await mkdir(files.result, { recursive: true, mode: 0o700 });
}

/** Written before anything acts on it. */
export async function writeRecord(path: string, text: string): Promise<void> {
  await writeFile(path, text, { mode: 0o600 });
}

/** Reads a file that an agent may have written: regular, within its size, not reached through a link; else undefined. */
export async function readAgentFile(path: string, maxBytes: number): Promise<string | undefined> {
  let file;
  try {
    file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    const stat = await file.stat();
    if (!stat.isFile() || stat.size > maxBytes) return undefined;
    return await file.readFile("utf8");
  } finally {
    await file.close();
  }
}

/** Identifies a file's state, to see after an attempt whether the attempt wrote it. */
export async function stamp(path: string): Promise<string> {
  try {
    const { ino, size, mtimeMs, ctimeMs } = await lstat(path);
    return `${ino}:${size}:${mtimeMs}:${ctimeMs}`;
  } catch {
    return "absent";
  }
}

/** Moves an old result away and keeps it. */
export async function setAside(path: string, files: AttemptFiles, name: string): Promise<void> {
  try {
    await rename(path, join(files.dir, name));
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    if (code === "ENOENT") return;
    if (code !== "EXDEV") throw cause;
    // Another file system: copy, then delete. The old file must not stay in either case.
    const { copyFile, rm } = await import("node:fs/promises");
    await copyFile(path, join(files.dir, name));
    await rm(path);
  }
}

/** Whether a path is in a folder after resolving links. A missing path is judged by its nearest existing parent. */
export async function isInside(folder: string, path: string): Promise<boolean> {
  const root = await realpath(folder);
  for (let there = path; ; there = dirname(there)) {
    if ((await stamp(there)) === "absent") continue;
    try {
      const real = await realpath(there);
      return real === root || real.startsWith(`${root}${sep}`);
    } catch {
      // A broken link: a write through it could end up outside.
      return false;
    }
  }
}

/** Short and stable name of a store's folder, to distinguish its processes from those of another store. */
export function storeMark(home: string): string {
  return createHash("sha256").update(home).digest("hex").slice(0, 12);
}

export function markerOf(storeId: string, runId: string, stage: string, attempt: number): string {
  return `${storeId}/${runId}/${stage}/${attempt}`;
}
