// Removes what the retention rules no longer keep, the oldest first. Files of an open run, or of a run whose work is
// neither landed nor discarded, stay, whatever their age and size. A note replaces removed files. It is written before
// the first removal: after a crash the next call continues there.

import { lstat, rm } from "node:fs/promises";
import { join } from "node:path";
import {
  isOlder,
  type Because,
  type EndedFiles,
  type RemovedNote,
  type RetentionRules,
  whyDue,
} from "../../core/retention/retention.ts";
import { projectOf } from "../../core/run/run-settings.ts";
import { runFacts } from "../../core/run/facts.ts";
import { isEnded, type Run } from "../../core/run/run.ts";
import { optional } from "../../core/optional.ts";
import { lookConfined, writeConfined } from "../../file/confined.ts";
import type { RunSummary, Store } from "../../store/store.ts";
import { createMergedLook } from "../merged-look.ts";
import { findRunEnd, openLanding } from "../run-end.ts";
import { bytesBelow, names } from "./measure.ts";
import { NOTE, readNote } from "./removed-note.ts";

export type PruneOptions = {
  readonly home: string;
  readonly store: Pick<Store, "attempts" | "listRuns" | "loadFlow" | "loadRun" | "runsOf"> &
    Partial<Pick<Store, "deleteSubject">>;
  readonly commitOf: (run: Run) => Promise<string | null>;
  readonly rules: RetentionRules;
  readonly now: () => string;
  /** Says what would go, and removes nothing. */
  readonly dryRun: boolean;
  /** Asked between two runs: whether to stop here. */
  readonly isStopped?: () => boolean;
};

export type Pruned = {
  readonly files: readonly (EndedFiles & { readonly because: Because })[];
  /** Due by the rules, and kept because the work has not landed. */
  readonly kept: readonly EndedFiles[];
  /** Tickets whose copies of logs went. */
  readonly logs: readonly { readonly ticket: string; readonly bytes: number }[];
  /** Results of stages that remember, unused for as long as files are kept. */
  readonly memos: { readonly count: number; readonly bytes: number };
  /** Runs that went with their events. */
  readonly runs: readonly string[];
  readonly bytes: number;
};

export async function prune(options: PruneOptions): Promise<Pruned> {
  const ended = await endedRuns(options);
  const { gone, kept } = await pruneFiles(options, ended);
  const logs = await pruneLogs(options);
  const memos = await pruneMemos(options);
  const runs = await pruneRuns(options, ended);
  const bytes = [...gone, ...logs, memos].reduce((sum, each) => sum + each.bytes, 0);
  return { files: gone, kept, logs, memos, runs, bytes };
}

const PAGE = 500;
const RUN_ID = /^[a-z0-9][a-z0-9-]{0,63}$/u;

/** By id. Folders of runs that the store does not know stay: it may be an older copy of the store. */
async function endedRuns({ store }: PruneOptions): Promise<ReadonlyMap<string, RunSummary>> {
  const found = new Map<string, RunSummary>();
  for (const status of ["completed", "canceled"] as const)
    for (let before: number | undefined; ; ) {
      const page = await store.listRuns({ status, limit: PAGE, ...optional({ before }) });
      for (const run of page) found.set(run.id, run);
      if (page.length < PAGE) break;
      before = page.at(-1)?.number;
    }
  return found;
}

async function pruneFiles(
  options: PruneOptions,
  ended: ReadonlyMap<string, RunSummary>,
): Promise<{ readonly gone: Pruned["files"]; readonly kept: Pruned["kept"] }> {
  const { home, rules, now } = options;
  const isMerged = createMergedLook();
  const gone: Pruned["files"][number][] = [];
  const kept: EndedFiles[] = [];
  const { found, openBytes, half } = await measureRuns(options, ended);
  if (!options.dryRun) for (const runId of half) await removeFiles(home, runId, undefined);
  const nowMs = Date.parse(now());
  let totalBytes = found.reduce((sum, { bytes }) => sum + bytes, openBytes);
  for (const [index, files] of found.entries()) {
    if (options.isStopped?.() === true) break;
    const because = whyDue(files, { newer: found.length - 1 - index, totalBytes }, rules.files, nowMs);
    if (because === undefined) continue;
    if (!(await isSettled(options, isMerged, files))) kept.push(files);
    else {
      if (!options.dryRun) await removeFiles(home, files.runId, { at: now(), because, bytes: files.bytes });
      totalBytes -= files.bytes;
      gone.push({ ...files, because });
    }
  }
  return { gone, kept };
}

type Measured = {
  /** Of ended runs, those that ended first come first. */
  readonly found: readonly EndedFiles[];
  readonly openBytes: number;
  /** Runs whose removal was cut off. */
  readonly half: readonly string[];
};

async function measureRuns({ home }: PruneOptions, ended: ReadonlyMap<string, RunSummary>): Promise<Measured> {
  const found: EndedFiles[] = [];
  const half: string[] = [];
  let openBytes = 0;
  for (const runId of await names(join(home, "runs"))) {
    const run = RUN_ID.test(runId) ? ended.get(runId) : undefined;
    const folder = join(home, "runs", runId);
    if (run === undefined) {
      openBytes += await bytesBelow(folder);
      continue;
    }
    if (readNote(home, runId) !== undefined) {
      if ((await names(folder)).length > 1) half.push(runId);
      continue;
    }
    found.push({ runId, number: run.number, endedAt: run.updatedAt, bytes: await bytesBelow(folder) });
  }
  found.sort((one, other) => Date.parse(one.endedAt) - Date.parse(other.endedAt) || one.number - other.number);
  return { found, openBytes, half };
}

/** Whether the fate of the run's work is decided without its files. In doubt it is not. */
async function isSettled(
  { store, commitOf }: PruneOptions,
  isMerged: ReturnType<typeof createMergedLook>,
  { runId, number }: EndedFiles,
): Promise<boolean> {
  const run = (await store.loadRun(runId))?.run;
  const resolved = run === undefined ? undefined : await store.loadFlow(run.flowHash);
  if (run === undefined || resolved === undefined || !isEnded(run)) return false;
  if ((await openLanding(store, run)) !== undefined) return false;
  const end = await findRunEnd(store, { resolved, run, number, attempts: await store.attempts(runId), commitOf });
  switch (end?.state) {
    case "landed":
    case "gone":
    case "in-place":
    case "none":
    case "imported":
      return true;
    case "kept":
    case "pushed":
      return end.tip !== null && isMerged(projectOf(run), end.tip);
    case "proposed":
    case undefined:
      return false;
  }
}

/** Without a note: continues a removal that was cut off. */
async function removeFiles(home: string, runId: string, note: RemovedNote | undefined): Promise<void> {
  const folder = join(home, "runs", runId);
  // An agent may have put a link in the place of the folder.
  const seen = lookConfined(home, folder);
  if (!seen.ok || seen.value?.isDirectory() !== true) return;
  if (note !== undefined) {
    const written = writeConfined(home, join(folder, NOTE), JSON.stringify(note));
    if (!written.ok) throw new Error(written.error.message);
  }
  for (const name of await names(folder))
    if (name !== NOTE) await rm(join(folder, name), { recursive: true, force: true });
}

const TICKET_FOLDER = /^[A-Z]{2,10}-[1-9][0-9]{0,8}$/u;

/** Copies for people: their last change counts. */
async function pruneLogs({ home, rules, now, dryRun }: PruneOptions): Promise<Pruned["logs"]> {
  const gone: Pruned["logs"][number][] = [];
  for (const ticket of await names(join(home, "logs"))) {
    const folder = join(home, "logs", ticket);
    if (!TICKET_FOLDER.test(ticket) || (await lstat(folder).catch(() => undefined))?.isDirectory() !== true) continue;
    const times = await Promise.all(
      (await names(folder)).map(async (name) => (await lstat(join(folder, name)).catch(() => undefined))?.mtimeMs ?? 0),
    );
    const changedAt = new Date(Math.max(0, ...times)).toISOString();
    if (!isOlder(changedAt, rules.logs, Date.parse(now()))) continue;
    gone.push({ ticket, bytes: await bytesBelow(folder) });
    if (!dryRun) await rm(folder, { recursive: true, force: true });
  }
  return gone;
}

/** A result that a later attempt took counts as new then (memo.ts). */
async function pruneMemos({ home, rules, now, dryRun, isStopped }: PruneOptions): Promise<Pruned["memos"]> {
  const root = join(home, "memo");
  let [count, bytes] = [0, 0];
  for (const part of (await names(root)).filter((name) => /^[0-9a-f]{2}$/u.test(name))) {
    if (isStopped?.() === true) break;
    const folder = lookConfined(home, join(root, part));
    if (!folder.ok || folder.value?.isDirectory() !== true) continue;
    for (const name of await names(join(root, part))) {
      const path = join(root, part, name);
      const found = await lstat(path).catch(() => undefined);
      if (found?.isFile() !== true || !isOlder(found.mtime.toISOString(), rules.files, Date.parse(now()))) continue;
      count += 1;
      bytes += found.blocks * 512;
      if (!dryRun) await rm(path, { force: true });
    }
  }
  return { count, bytes };
}

/** A subject goes with all its runs, when the last of them is old and no decision about it is open. */
async function pruneRuns(options: PruneOptions, ended: ReadonlyMap<string, RunSummary>): Promise<readonly string[]> {
  const { home, store, rules, now, dryRun } = options;
  const isMerged = createMergedLook();
  const gone: string[] = [];
  const old = [...ended.values()].filter(({ updatedAt }) => isOlder(updatedAt, rules.runs, Date.parse(now())));
  for (const subjectId of new Set(old.map(({ subject }) => subject.id))) {
    if (options.isStopped?.() === true) break;
    const runs = await store.runsOf(subjectId);
    if (!(await mayBeForgotten(options, isMerged, runs))) continue;
    if (!dryRun) {
      const deletion = await store.deleteSubject?.(subjectId);
      if (deletion?.type !== "deleted") continue;
      for (const runId of deletion.runIds) await rm(join(home, "runs", runId), { recursive: true, force: true });
    }
    gone.push(...runs.map(({ id }) => id));
  }
  return gone;
}

async function mayBeForgotten(
  options: PruneOptions,
  isMerged: ReturnType<typeof createMergedLook>,
  runs: readonly RunSummary[],
): Promise<boolean> {
  const { store, rules, now } = options;
  for (const { id, number, updatedAt } of runs) {
    if (!isOlder(updatedAt, rules.runs, Date.parse(now()))) return false;
    const run = (await store.loadRun(id))?.run;
    // A ticket's file refers to its runs as long as it is there.
    if (run === undefined || runFacts(run).ticket.id !== null) return false;
    if (!(await isSettled(options, isMerged, { runId: id, number, endedAt: updatedAt, bytes: 0 }))) return false;
  }
  return true;
}
