// The memo of a stage: its result is kept under a hash of everything that it followed from, and an attempt with the same hash takes it
// instead of asking an agent. Its commits come along, and everything that Passrail checks after an agent is checked again.

import { createHash } from "node:crypto";
import { mkdir, readFile, utimes } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { MAIN_TRACK } from "../core/flow/flow.ts";
import type { Report, ReusedResult } from "../core/flow/outcome.ts";
import type { RunnerChoice } from "../core/flow/runner-choice.ts";
import { memoParts, whyNoMemo } from "../core/memo/memo-parts.ts";
import { reportSchema } from "../core/worker/report.ts";
import { redactJson } from "../core/secrets/redact-json.ts";
import { readConfined, writeConfined } from "../file/confined.ts";
import { replacePrivate } from "../file/private-file.ts";
import { findProgram } from "../runner/process/find-program.ts";
import { notStarted } from "../runner/process/process.ts";
import type { AttemptEnd } from "../runner/runner.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { attemptFiles } from "./attempt-files.ts";
import type { AttemptJob, AttemptPorts } from "./job.ts";
import { programFiles } from "./program-files.ts";

export type MemoPlace = {
  readonly play: RunnerChoice;
  readonly workspace: Workspace;
  readonly head: string | null;
  readonly dir: string;
};

/** The key of this attempt's result; undefined where the stage has no memo. */
export async function memoKey(
  job: AttemptJob,
  ports: AttemptPorts,
  { play, workspace, head, dir }: MemoPlace,
  prompt: string,
): Promise<string | undefined> {
  const { branch } = workspace;
  // A worker's state folder has no results of other runs, and the user's own folder no branch to bring commits to.
  if (whyNoMemo(job) !== undefined || head === null || branch === undefined || job.start !== undefined)
    return undefined;
  if (ports.playback !== undefined || ports.workspaces.advance === undefined) return undefined;
  // What it may do is decided by people while it works.
  if (play.options.permission === "ask") return undefined;
  const { argv, environment } = ports.runners.runnerFor(play);
  const found = findProgram({ argv, cwd: dir, env: environment, ownPrograms: ports.workspaces.ownPrograms === true });
  if (!found.ok) return undefined;
  const { home, project, nonce, token, url, files } = job;
  const places = { home, nonce, token, url, result: files.result, workspace: workspace.dir, branch };
  const handoffs = await handoffsIn(job, ports, prompt);
  const program = JSON.stringify(programFiles([found.value, ...argv.slice(1)], environment["PATH"] ?? ""));
  return hashOf(memoParts(job, { commit: head, prompt, handoffs, play, program, project, places }));
}

/**
 * The attempts that the result of a track's stage may follow from. How far other tracks were when it started is chance, and their work is on
 * other branches.
 */
export function memoPorts({ track }: AttemptJob, ports: AttemptPorts): AttemptPorts {
  if (track === MAIN_TRACK) return ports;
  const isBefore = (each: { readonly track: string }): boolean => each.track === track || each.track === MAIN_TRACK;
  return { ...ports, earlierAttempts: async () => (await ports.earlierAttempts()).filter(isBefore) };
}

/** An agent reads the handoffs that its prompt names. */
async function handoffsIn({ home, run }: AttemptJob, ports: AttemptPorts, prompt: string): Promise<readonly string[]> {
  const hashes: string[] = [];
  for (const { stage, attempt } of await ports.earlierAttempts()) {
    const { handoff } = attemptFiles(home, run.id, stage, attempt);
    if (!prompt.includes(handoff)) continue;
    const text = await readFile(handoff).catch(() => null);
    hashes.push(`${stage} ${text === null ? "" : hashOf(text)}`);
  }
  return hashes;
}

const memoSchema = z.object({
  of: z.object({ run: z.string().max(64), stage: z.string().max(100), attempt: z.int() }),
  from: z.string().regex(/^[0-9a-f]{40,64}$/u),
  to: z.string().regex(/^[0-9a-f]{40,64}$/u),
  report: reportSchema,
  /** The file that later stages read. */
  handoff: z.string().nullable(),
});

const MEMO_BYTES = 8 * 1024 * 1024;
const HANDOFF_BYTES = 1024 * 1024;

function memoFile(home: string, key: string): string {
  return join(home, "memo", key.slice(0, 2), `${key}.json`);
}

export type Reused = { readonly report: Report; readonly end: AttemptEnd };

/** The kept result, brought into this attempt's workspace and folder; undefined where there is none that can be. */
export async function takeMemo(
  job: AttemptJob,
  ports: AttemptPorts,
  { workspace, head }: Pick<MemoPlace, "workspace" | "head">,
  key: string,
): Promise<Reused | undefined> {
  const read = readConfined(job.home, memoFile(job.home, key), MEMO_BYTES);
  if (!read.ok || read.value === undefined) return undefined;
  const kept = memoSchema.safeParse(parsed(read.value));
  if (!kept.success || kept.data.from !== head) return undefined;
  const { of, to, report, handoff } = kept.data;
  const tree = await ports.workspaces.tree?.(workspace);
  // Work that somebody left uncommitted is no part of the key.
  if (tree?.ok !== true || tree.value.changed.length > 0 || tree.value.hasUntracked) return undefined;
  if (to !== head && (await ports.workspaces.advance?.(workspace, to))?.ok !== true) return undefined;
  if (handoff !== null) writeConfined(job.home, job.files.handoff, handoff);
  // Retention goes by the last use.
  const now = new Date();
  await utimes(memoFile(job.home, key), now, now).catch(() => undefined);
  return { report: { ...report, reused: of }, end: NOT_STARTED };
}

/** Nothing ran, and nothing went wrong. */
const NOT_STARTED: AttemptEnd = { ...notStarted("canceled", ""), reason: "exited", exitCode: 0 };

/** After an attempt that came to a result. What was reused keeps its first author. */
export async function keepMemo(
  job: AttemptJob,
  { runners: { redact } }: Pick<AttemptPorts, "runners">,
  { key, report }: KeptResult,
  { from, to }: { readonly from: string | null; readonly to: string | null },
): Promise<void> {
  if (from === null || to === null || report.reused !== undefined) return;
  const { run, stage, attempt, home } = job;
  const { usage: _usage, ...said } = report;
  const of: ReusedResult = { run: run.id, stage: stage.id, attempt };
  const written = readConfined(home, job.files.handoff, HANDOFF_BYTES);
  // Only a part of a result is none.
  if (!written.ok) return;
  const handoff = written.value === undefined ? null : redact(written.value);
  const path = memoFile(home, key);
  await mkdir(join(path, ".."), { recursive: true, mode: 0o700 });
  replacePrivate(path, JSON.stringify({ of, from, to, report: redactJson(said, redact), handoff }));
}

export type KeptResult = {
  readonly key: string;
  /** As the agent gave it, before Passrail's own checks. */
  readonly report: Report;
};

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function hashOf(bytes: string | Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
