// The turns of mirrored files: one task at a time per file, each of which steps and acts until no act finds out anything more.

import { setTimeout as sleep } from "node:timers/promises";
import type { Run } from "../../core/run/run.ts";
import { type MirrorAct, type MirrorEntry, type MirrorSeen, mirrorStep } from "../../core/ticket/mirror-step.ts";
import type { Endings } from "./endings.ts";
import type { FolderWatch } from "./folder-watch.ts";
import { type ActDeps, performAct, turnOf } from "./perform-act.ts";
import { type RunTicket, worksNow } from "./run-ticket.ts";

/** A run and its file. `chain` is the work on the file: each task waits for the one before. */
export type Mirrored = { readonly ticket: RunTicket; run: Run; entry: MirrorEntry; chain: Promise<void> };

export type FileTurns = ActDeps & {
  readonly folders: FolderWatch;
  /** By the id of the run. */
  readonly known: Map<string, Mirrored>;
  readonly endings: Endings;
  readonly closing: AbortController;
};

const RETRY_MS = 5000;

export function inTurn({ onProblem }: FileTurns, own: Mirrored, task: () => Promise<void>): Promise<void> {
  own.chain = own.chain.then(task).catch((error: unknown) => onProblem(own.run.id, error));
  return own.chain;
}

/** Brings the file up to the run. `isStarting`: the attempt that the run says is running has not begun to work. */
export async function takeTurn(turns: FileTurns, own: Mirrored, isStarting: boolean): Promise<void> {
  const { closing, folders, known, store } = turns;
  if (closing.signal.aborted) return;
  if (known.get(own.run.id) === own) await advance(turns, own, await turnOf(own.entry, own.run, store), isStarting);
  if (!worksNow(own.run)) folders.notify(own.ticket.project);
}

export async function advance(turns: FileTurns, own: Mirrored, first: MirrorSeen, isStarting: boolean): Promise<void> {
  for (let seen: MirrorSeen | undefined = first; seen !== undefined; ) {
    const { entry, acts } = mirrorStep(own.entry, seen);
    own.entry = entry;
    seen = undefined;
    for (const act of acts) seen = (await perform(turns, own, act, isStarting)) ?? seen;
  }
}

export async function perform(
  turns: FileTurns,
  own: Mirrored,
  act: MirrorAct,
  isStarting: boolean,
): Promise<MirrorSeen | undefined> {
  if (act.type === "retry-later") retryLater(turns, own);
  else if (act.type === "forget") forget(turns, own);
  else {
    const folder = await turns.folders.folder(own.ticket.project);
    return performAct(act, { run: own.run, entry: own.entry, folder, isStarting }, turns);
  }
  return undefined;
}

function retryLater(turns: FileTurns, own: Mirrored): void {
  sleep(RETRY_MS, undefined, { ref: false, signal: turns.closing.signal }).then(
    () => inTurn(turns, own, () => takeTurn(turns, own, false)),
    () => undefined,
  );
}

function forget({ endings, known, log }: FileTurns, { run, ticket }: Mirrored): void {
  if (!known.delete(run.id)) return;
  endings.add(ticket.project, ticket.id);
  log.forget(run.id);
}
