// The files of an attempt. Its record (prompt, output, diff, what it submitted) is a new folder that Passrail creates exclusively. Its channel
// is the only folder that the agent writes: it exists while the attempt runs, at a path that nobody could know before, and then becomes a
// part of the record. So neither an earlier attempt nor an older file can pass as a result.

import { createHash, randomBytes } from "node:crypto";
import { mkdir, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { isName } from "../core/flow/name.ts";
import { createFolder, lookConfined, makeFolders, readConfined, writeConfinedSoon } from "../file/confined.ts";
import { untampered } from "./tampered.ts";

export type AttemptFiles = {
  /** The state folder: no path below it leads through a link. */
  readonly home: string;
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
  /** Requests to models and their answers, where a gateway records them. */
  readonly tape: string;
  readonly repairPrompt: string;
  readonly repairOutput: string;
};

/** The record of an attempt, where everything is when the attempt has ended. */
export function attemptFiles(home: string, runId: string, stage: string, attempt: number): AttemptFiles {
  // The only place that builds these paths; both names were validated long before.
  if (!/^[a-z0-9][a-z0-9-]{0,63}$/u.test(runId) || !isName(stage))
    throw new Error(`not the name of an attempt: ${runId}/${stage}`);
  const dir = `${home}/runs/${runId}/${stage}-${attempt}`;
  return {
    home,
    dir,
    prompt: `${dir}/prompt.md`,
    output: `${dir}/output.log`,
    ...resultIn(dir),
    submission: `${dir}/submission.json`,
    events: `${dir}/events.jsonl`,
    diff: `${dir}/changes.diff`,
    tape: `${dir}/tape.jsonl.zst`,
    repairPrompt: `${dir}/repair-prompt.md`,
    repairOutput: `${dir}/repair-output.log`,
  };
}

/** What a person said between two turns, and what the agent's program printed then. */
export function turnFiles(
  { dir }: Pick<AttemptFiles, "dir">,
  turn: number,
): { readonly prompt: string; readonly output: string } {
  return { prompt: `${dir}/turn-${turn}-prompt.md`, output: `${dir}/turn-${turn}-output.log` };
}

/** The output of a check that Passrail ran after the attempt. */
export function checkLog({ dir }: Pick<AttemptFiles, "dir">, name: string): string {
  if (!isName(name)) throw new Error(`not the name of a check: ${name}`);
  return `${dir}/check-${name}.log`;
}

/** The same with a channel of its own for the result, while the attempt runs. */
export function channelFiles(files: AttemptFiles, incarnation: string): AttemptFiles {
  return { ...files, ...resultIn(join(files.home, "channels", incarnation, randomBytes(16).toString("hex"))) };
}

function resultIn(dir: string): Pick<AttemptFiles, "result" | "verdict" | "handoff"> {
  return { result: `${dir}/result`, verdict: `${dir}/result/verdict.json`, handoff: `${dir}/result/handoff.md` };
}

/** Creates both folders. Names a folder that was in the place of the record: it is kept aside and never read. */
export async function openAttempt(files: AttemptFiles): Promise<string | undefined> {
  const { home, dir, result } = files;
  await mkdir(home, { recursive: true, mode: 0o700 });
  for (const folder of [dirname(dir), dirname(dirname(result))]) untampered(makeFolders(home, folder, 0o700));
  const found = untampered(createFolder(home, dir)) ? undefined : await replaceRecord(files);
  // A channel inside the record belongs to a job of an earlier version.
  if (dirname(result) !== dir) untampered(requireNew(createFolder(home, dirname(result)), result));
  untampered(requireNew(createFolder(home, result), result));
  return found;
}

/** A store restored from a backup finds the folders of attempts that it does not know, and an agent may plant one. */
async function replaceRecord({ home, dir }: AttemptFiles): Promise<string> {
  const aside = join(dirname(dir), `.found-${basename(dir)}-${randomBytes(6).toString("hex")}`);
  // Renames the name itself, also of a link.
  await rename(dir, aside);
  untampered(requireNew(createFolder(home, dir), dir));
  return aside;
}

function requireNew(created: ReturnType<typeof createFolder>, path: string): ReturnType<typeof createFolder> {
  if (created.ok && !created.value) throw new Error(`${path} exists already`);
  return created;
}

/** The channel becomes a part of the record. Repeated calls do nothing. */
export async function closeChannel(files: AttemptFiles): Promise<void> {
  const { home, dir, result } = files;
  const place = join(dir, "result");
  if (result === place) return;
  const found = lookConfined(home, result);
  if (found.ok && found.value !== undefined && lookConfined(home, dir).ok)
    await rename(result, place).catch(() => undefined);
  // Not through a folder that became a link.
  if (lookConfined(home, dirname(result)).ok) await rm(dirname(result), { recursive: true, force: true });
}

/** After a crash: what a dead process left in its channels is no longer anybody's result. Attempts that work on keep theirs. */
export async function dropChannels(home: string, kept: ReadonlySet<string>): Promise<void> {
  const root = join(home, "channels");
  if (kept.size === 0) return rm(root, { recursive: true, force: true });
  for (const incarnation of await readdir(root).catch(() => []))
    for (const name of await readdir(join(root, incarnation)).catch(() => []))
      if (!kept.has(join(root, incarnation, name)))
        await rm(join(root, incarnation, name), { recursive: true, force: true });
}

/** Written before anything acts on it. */
export async function writeRecord({ home }: AttemptFiles, path: string, text: string): Promise<void> {
  untampered(await writeConfinedSoon(home, path, text));
}

/** A file that an agent may have written; undefined if there is none, or if it is too large. */
export async function readAgentFile(root: string, path: string, maxBytes: number): Promise<string | undefined> {
  const read = readConfined(root, path, maxBytes);
  return !read.ok && read.error.code === "file_too_large" ? undefined : untampered(read);
}

/** Moves an old result away and keeps it. `root` is the folder that the path must not leave. */
export async function setAside(root: string, path: string, files: AttemptFiles, name: string): Promise<void> {
  const folder = untampered(lookConfined(root, dirname(path)));
  untampered(lookConfined(files.home, files.dir));
  if (folder === undefined) return;
  try {
    // Renames the name itself: a link is moved, not followed.
    await rename(path, join(files.dir, name));
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code;
    if (code === "ENOENT") return;
    if (code !== "EXDEV") throw cause;
    // Another file system: copy, then delete. The old file must not stay in either case.
    const text = readConfined(root, path, SET_ASIDE_BYTES);
    if (text.ok && text.value !== undefined) await writeRecord(files, join(files.dir, name), text.value);
    await rm(path, { recursive: true });
  }
}

const SET_ASIDE_BYTES = 16 * 1024 * 1024;

/** Short and stable name of a store's folder, to distinguish its processes from those of another store. */
export function storeMark(home: string): string {
  return createHash("sha256").update(home).digest("hex").slice(0, 12);
}

export function markerOf(storeId: string, runId: string, stage: string, attempt: number): string {
  return `${storeId}/${runId}/${stage}/${attempt}`;
}
