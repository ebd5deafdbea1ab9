// The runs that work and those that wait for a slot or for their folder, per project, in the order in which they start. Read from the stored runs, so
// it is the same before and after a restart.

import type { ResolvedFlow } from "../core/flow/agent.ts";
import type { WorkStage } from "../core/flow/flow.ts";
import { attemptKey } from "../core/run/attempt-key.ts";
import { isOutside } from "../core/run/outside.ts";
import { projectOf, workspaceMode } from "../core/run/run-settings.ts";
import { isEnded, type Run, type Track } from "../core/run/run.ts";
import { findWork } from "../core/run/sequence.ts";
import { type LabelRules, type PlaceWish, placeWish } from "../core/worker/place-wish.ts";
import type { WorkerPlace } from "../settings/workers.ts";
import { flowOf } from "../store/flow-of.ts";
import type { Store } from "../store/store.ts";

export type QueueEntry = {
  readonly runId: string;
  readonly number: number;
  readonly flow: string;
  readonly title: string;
  readonly track: string;
  readonly stage: string;
  readonly attempt: number;
  readonly agent: string;
  /** "running": it works. "queued": it starts as soon as there is a slot and its turn has come. "later": not before `notBefore`. */
  readonly state: "running" | "queued" | "later" | "paused" | "outside";
  /** Since when it has this state. */
  readonly since: string;
  readonly notBefore: string | null;
  /** From 1, among those of its project that have not started; null for what is not in line. */
  readonly position: number | null;
  /** The run works in the project's folder itself, so the runs of this folder go one after another. */
  readonly inPlace: boolean;
  /** Why it does not work yet; null for what works. */
  readonly why: string | null;
};

export type ProjectQueue = { readonly project: string; readonly entries: readonly QueueEntry[] };

/** The limits of starts, as far as the caller knows them. */
export type QueueLimits = {
  /** Attempts at once on this machine. */
  readonly slots?: number;
  /** Which attempts need a worker. */
  readonly workers?: { readonly place: WorkerPlace; readonly labels: LabelRules };
  /** The workers that have joined; absent if no daemon was asked. */
  readonly joined?: readonly JoinedWorker[];
};

export type JoinedWorker = {
  readonly slots: number;
  readonly labels: readonly string[];
  readonly state: "open" | "cordoned" | "draining";
  /** run/stage/attempt */
  readonly attempts: readonly string[];
};

type Queued = Omit<QueueEntry, "why"> & { readonly project: string; readonly first: boolean; readonly wish: PlaceWish };

export async function listQueue(store: Store, now: string, limits: QueueLimits = {}): Promise<readonly ProjectQueue[]> {
  const { slots, workers, joined = [] } = limits;
  const rules = workers?.labels ?? {};
  const found = await Promise.all((await store.activeRuns()).map((id) => entriesOf(store, id, now, rules)));
  const byProject = Map.groupBy(found.flat(), ({ project }) => project);
  const elsewhere = new Set(joined.flatMap(({ attempts }) => attempts));
  const here = found.flat().filter(({ state, wish }) => state === "running" && !elsewhere.has(wish.key)).length;
  const isFull = slots !== undefined && here >= slots;
  const whyNoSlot = (wish: PlaceWish): string => noSlotText(wish, limits, isFull);
  return [...byProject]
    .map(([project, entries]) => ({ project, entries: inLine(entries, whyNoSlot) }))
    .toSorted((a, b) => (a.project < b.project ? -1 : 1));
}

async function entriesOf(store: Store, runId: string, now: string, labels: LabelRules): Promise<readonly Queued[]> {
  const [stored, summaries] = await Promise.all([store.loadRun(runId), store.findRuns(runId)]);
  const summary = summaries.find(({ id }) => id === runId);
  if (stored === undefined || summary === undefined || isEnded(stored.run)) return [];
  const { run } = stored;
  const resolved = await flowOf(store, run);
  return Object.entries(run.tracks).flatMap(([track, at]) => {
    if (at.at !== "ready" && at.at !== "running") return [];
    const work = findWork(resolved.flow, run, track, at.stage);
    return [
      {
        wish: wishOf(resolved, run, { stage: work, id: at.stage, attempt: at.attempt }, labels),
        project: projectOf(run),
        // Runs under way come before new ones, as in the engine's own queue.
        first: Object.keys(run.stages).length <= 1 || work?.yields === true,
        runId,
        number: summary.number,
        flow: run.flow,
        title: run.subject.title,
        track,
        stage: at.stage,
        attempt: at.attempt,
        agent: work?.shownAgent ?? "",
        state: stateOf(resolved, run, track, at, now),
        since: at.since,
        notBefore: at.at === "ready" ? (at.notBefore ?? null) : null,
        position: null,
        inPlace: workspaceMode(resolved, run) === "in-place",
      },
    ];
  });
}

/** A stage that the flow no longer has goes nowhere. */
function wishOf(
  resolved: ResolvedFlow,
  run: Run,
  { stage, id, attempt }: { readonly stage: WorkStage | undefined; readonly id: string; readonly attempt: number },
  labels: LabelRules,
): PlaceWish {
  if (stage !== undefined) return placeWish(resolved, run, { stage, attempt }, labels);
  return { key: attemptKey(run.id, id, attempt), runId: run.id, stage: id, labels: [], mayMove: false };
}

function stateOf(
  resolved: ResolvedFlow,
  run: Run,
  track: string,
  at: Track & { at: "ready" | "running" },
  now: string,
): QueueEntry["state"] {
  const work = findWork(resolved.flow, run, track, at.stage);
  if (work !== undefined && isOutside(resolved, run, work)) return "outside";
  if (at.at === "running") return "running";
  if (run.paused) return "paused";
  return at.notBefore !== undefined && at.notBefore > now ? "later" : "queued";
}

const RANK: Readonly<Record<QueueEntry["state"], number>> = { running: 0, queued: 1, later: 2, paused: 3, outside: 4 };

function inLine(entries: readonly Queued[], whyNoSlot: (wish: PlaceWish) => string): readonly QueueEntry[] {
  const ordered = entries.toSorted(
    (a, b) =>
      RANK[a.state] - RANK[b.state] ||
      Number(a.first) - Number(b.first) ||
      (a.since < b.since ? -1 : a.since > b.since ? 1 : a.number - b.number),
  );
  let position = 0;
  return ordered.map(({ project: _project, first: _first, wish, ...entry }, index) => ({
    ...entry,
    position: entry.state === "queued" ? ++position : null,
    why: whyWaits(entry, ordered.slice(0, index), () => whyNoSlot(wish)),
  }));
}

/** `before`: the entries of the same project that come first. */
function whyWaits(
  { state, inPlace, runId }: Pick<Queued, "state" | "inPlace" | "runId">,
  before: readonly Queued[],
  whyNoSlot: () => string,
): string | null {
  switch (state) {
    case "running":
      return null;
    case "outside":
      return "an agent outside of Passrail has it";
    case "paused":
      return "a person has paused the run";
    case "later":
      return "the last try failed for a reason outside the work; Passrail retries it";
    case "queued": {
      const inFolder = inPlace ? before.findLast((each) => each.inPlace && each.runId !== runId) : undefined;
      if (inFolder?.state === "running") return `#${inFolder.number} works in the same folder`;
      if (inFolder !== undefined) return `#${inFolder.number} comes first in the same folder`;
      return whyNoSlot();
    }
  }
}

/** Only a worker can carry out an attempt with labels, and any that may move where nothing works here. */
function noSlotText({ labels, mayMove }: PlaceWish, { workers, joined }: QueueLimits, isFull: boolean): string {
  const needsWorker = mayMove && (labels.length > 0 || workers?.place === "workers-only");
  if (!needsWorker) return isFull ? "every slot is in use" : "it starts as soon as a slot is free";
  const which = labels.length === 0 ? "worker" : `worker with ${labels.join(" and ")}`;
  if (joined === undefined) return `it waits for a ${which}`;
  const fitting = joined.filter((worker) => labels.every((label) => worker.labels.includes(label)));
  if (fitting.length === 0) return `no ${which} has joined`;
  const open = fitting.filter(({ state }) => state === "open");
  if (open.length === 0) return `every ${which} is cordoned or leaves`;
  const isBusy = open.every(({ slots, attempts }) => attempts.length >= slots);
  return isBusy ? `every ${which} is busy` : `it starts as soon as a ${which} takes it`;
}
