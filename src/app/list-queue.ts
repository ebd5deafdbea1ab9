// What works and what waits for a slot or for its folder, per project and in the order in which it starts. Read from the stored runs, so
// it is the same before and after a restart.

import type { ResolvedFlow } from "../core/flow/agent.ts";
import { isOutside } from "../core/run/outside.ts";
import { projectOf, workspaceMode } from "../core/run/run-settings.ts";
import { isEnded, type Run, type Track } from "../core/run/run.ts";
import { findWork } from "../core/run/sequence.ts";
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

/** How many attempts may work at once, if the caller knows. */
export type QueueLimits = { readonly slots?: number };

type Queued = Omit<QueueEntry, "why"> & { readonly project: string; readonly first: boolean };

export async function listQueue(
  store: Store,
  now: string,
  { slots }: QueueLimits = {},
): Promise<readonly ProjectQueue[]> {
  const found = await Promise.all((await store.activeRuns()).map((id) => entriesOf(store, id, now)));
  const byProject = Map.groupBy(found.flat(), ({ project }) => project);
  const working = found.flat().filter(({ state }) => state === "running").length;
  const isFull = slots !== undefined && working >= slots;
  return [...byProject]
    .map(([project, entries]) => ({ project, entries: inLine(entries, isFull) }))
    .toSorted((a, b) => (a.project < b.project ? -1 : 1));
}

async function entriesOf(store: Store, runId: string, now: string): Promise<readonly Queued[]> {
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

function inLine(entries: readonly Queued[], isFull: boolean): readonly QueueEntry[] {
  const ordered = entries.toSorted(
    (a, b) =>
      RANK[a.state] - RANK[b.state] ||
      Number(a.first) - Number(b.first) ||
      (a.since < b.since ? -1 : a.since > b.since ? 1 : a.number - b.number),
  );
  let position = 0;
  return ordered.map(({ project: _project, first: _first, ...entry }, index) => ({
    ...entry,
    position: entry.state === "queued" ? ++position : null,
    why: whyWaits(entry, ordered.slice(0, index), isFull),
  }));
}

/** `before`: the entries of the same project that come first. */
function whyWaits(
  { state, inPlace, runId }: Pick<Queued, "state" | "inPlace" | "runId">,
  before: readonly Queued[],
  isFull: boolean,
): string | null {
  switch (state) {
    case "running":
      return null;
    case "outside":
      return "an agent outside of Passrail has it";
    case "paused":
      return "a person has paused the run";
    case "later":
      return "the last try failed for a reason outside the work; it starts again by itself";
    case "queued": {
      const inFolder = inPlace ? before.findLast((each) => each.inPlace && each.runId !== runId) : undefined;
      if (inFolder?.state === "running") return `#${inFolder.number} works in the same folder`;
      if (inFolder !== undefined) return `#${inFolder.number} comes first in the same folder`;
      return isFull ? "every slot is in use" : "it starts as soon as a slot is free";
    }
  }
}
