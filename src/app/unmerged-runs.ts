// Finds completed runs whose commits are on their own branch only, among any number of completed runs. Each is looked at once; after that
// only those that changed, and those that are still open. A first look at many runs continues in the following calls, newest first.

import { setImmediate as nextTurn } from "node:timers/promises";
import { projectOf } from "../core/run/run-settings.ts";
import type { Run } from "../core/run/run.ts";
import { type LooseEnd, unmergedEnd } from "../core/view/loose-end.ts";
import type { RunSummary, Store } from "../store/store.ts";
import { createMergedLook } from "./merged-look.ts";
import { findRunEnd, openLanding } from "./run-end.ts";
import { createTurns } from "./turns.ts";

type Options = {
  readonly store: Pick<
    Store,
    "attempts" | "countRuns" | "events" | "lastSeq" | "listRuns" | "loadFlow" | "loadRun" | "runsOf"
  >;
  readonly commitOf: (run: Run) => Promise<string | null>;
};

export type UnmergedRuns = {
  readonly ends: readonly LooseEnd[];
  /** The number of older completed runs that were not looked at yet. */
  readonly unseen: number;
};

/** Looked at in one call. */
const SLICE = 300;
/** Looked at in one turn of the event loop: the engine decides and commits in between. */
const AT_ONCE = 15;
/** After more events than this, the walk begins again; runs that are settled are passed by their summary. */
const EVENTS_AT_MOST = 5000;

type Known = {
  /** Completed runs that were looked at, with the time of their last change. */
  readonly seen: Map<string, string>;
  /** Those of them that may still be unmerged: their branch is there, or may come back. */
  readonly open: Map<string, number>;
  /** The walk has come down to this number; null when it is through. */
  below: number | null;
  /** Events up to this one are known. */
  seq: number;
};

export function createUnmergedLook(options: Options): () => Promise<UnmergedRuns> {
  const isMerged = createMergedLook();
  const known: Known = { seen: new Map(), open: new Map(), below: Number.MAX_SAFE_INTEGER, seq: -1 };
  const inTurn = createTurns();

  async function look(): Promise<UnmergedRuns> {
    const { store } = options;
    const changed = await changedRuns(store, known);
    const fresh = await nextSlice(store, known);
    const asked = [...new Map([...known.open, ...changed, ...fresh.map(({ id, number }) => [id, number] as const)])];
    const ends: LooseEnd[] = [];
    for (let at = 0; at < asked.length; at += AT_ONCE) {
      const some = asked.slice(at, at + AT_ONCE);
      const found = await Promise.all(some.map(([id, number]) => lookAt(options, known, isMerged, id, number)));
      ends.push(...found.flat());
      await nextTurn();
    }
    const { completed } = await store.countRuns();
    return { ends, unseen: known.below === null ? 0 : Math.max(0, completed - known.seen.size) };
  }

  // A run that one call has begun to read is not read again by the next call, which does not have it yet.
  return () => inTurn("look", look);
}

/** The next completed runs of the walk that were not looked at. */
async function nextSlice(store: Options["store"], known: Known): Promise<readonly RunSummary[]> {
  const found: RunSummary[] = [];
  while (known.below !== null && found.length < SLICE) {
    const page = await store.listRuns({ status: "completed", limit: SLICE, before: known.below });
    const take = page.filter(({ id, updatedAt }) => known.seen.get(id) !== updatedAt).slice(0, SLICE - found.length);
    found.push(...take);
    const isCut = found.length >= SLICE;
    known.below = isCut ? (take.at(-1)?.number ?? null) : page.length < SLICE ? null : (page.at(-1)?.number ?? null);
    for (const { id, updatedAt } of take) known.seen.set(id, updatedAt);
  }
  return found;
}

/** Runs that completed, or were discarded or restored, since the last call. */
async function changedRuns(store: Options["store"], known: Known): Promise<ReadonlyMap<string, number>> {
  const last = await store.lastSeq();
  const from = known.seq;
  known.seq = last;
  if (from === -1 || last === from) return new Map();
  if (last - from > EVENTS_AT_MOST) {
    known.below = Number.MAX_SAFE_INTEGER;
    return new Map();
  }
  const events = await store.events({ after: from, limit: EVENTS_AT_MOST });
  const ids = new Set(events.flatMap(({ runId, event }) => (TELLING.test(event.type) ? [runId] : [])));
  return new Map([...ids].map((id) => [id, known.open.get(id) ?? 0]));
}

const TELLING = /^(run\.completed|outward\.)/u;

async function lookAt(
  { store, commitOf }: Options,
  known: Known,
  isMerged: (project: string, commit: string) => Promise<boolean>,
  id: string,
  number: number,
): Promise<readonly LooseEnd[]> {
  const run = (await store.loadRun(id))?.run;
  const resolved = run === undefined ? undefined : await store.loadFlow(run.flowHash);
  if (run === undefined || resolved === undefined || run.status !== "completed") {
    known.open.delete(id);
    return [];
  }
  const own = number === 0 ? await numberOf(store, run) : number;
  const end = await findRunEnd(store, { resolved, run, number: own, attempts: await store.attempts(id), commitOf });
  // A branch that is gone may come back.
  if (end !== null && (end.state === "kept" || end.state === "gone")) known.open.set(id, own);
  else known.open.delete(id);
  const loose = end === null ? undefined : unmergedEnd(run, own, end);
  if (loose === undefined || end === null || end.tip === null) return [];
  // A run that a person started lands it now, and reports what it needs.
  if ((await openLanding(store, run)) !== undefined) return [];
  return (await isMerged(projectOf(run), end.tip)) ? [] : [loose];
}

async function numberOf(store: Pick<Store, "runsOf">, { id, subject }: Run): Promise<number> {
  return (await store.runsOf(subject.id)).find((each) => each.id === id)?.number ?? 0;
}
