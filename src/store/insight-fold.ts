// Facts about a flow from the rows of runs and events: ends, loops, waits. Pure: each store reads the rows, this sums them up.

import type { InboxItem } from "../core/run/run.ts";
import type { FlowStats, Insights, WaitRow } from "./store.ts";

export const FAILURES_AT_MOST = 20;
export const REASON_CHARS = 500;

/** In SQL: a run of this store. One that came from a file of another machine has a subject named after it (core/run/imported.ts). */
export const OWN_RUN = "subject_id <> 'imported-' || id";

/** The events that count, in order of run and version. */
export const STEP_TYPES = [
  "stage.finished",
  "counter.changed",
  "gate.opened",
  "gate.answered",
  "question.asked",
  "question.answered",
  "escalation.opened",
  "escalation.resolved",
  "budget.reached",
  "budget.answered",
  "item.withdrawn",
] as const;

export type InsightStep = {
  readonly run: number;
  readonly flow: string;
  readonly type: string;
  readonly at: string;
  readonly stage: string | null;
  readonly item: number | null;
  readonly kind: InboxItem["kind"] | null;
  readonly looped: number;
};

export type RunEndRow = {
  readonly status: string;
  readonly ms: number;
  /** Millionths of a dollar. */
  readonly usd: number | null;
  readonly unknown: number;
  readonly loops: number;
};

export function statsOf(ends: readonly RunEndRow[]): FlowStats {
  const count = (status: string): number => ends.filter((end) => end.status === status).length;
  const completed = ends.filter(({ status }) => status === "completed");
  const costs = completed.flatMap(({ usd, unknown }) => (usd === null || unknown > 0 ? [] : [usd]));
  const micros = median(costs);
  return {
    runs: ends.length,
    completed: completed.length,
    canceled: count("canceled"),
    stopped: count("stopped"),
    medianMs: median(completed.map(({ ms }) => ms)),
    medianUsd: micros === null ? null : micros / 1e6,
    loops: ends.reduce((sum, { loops }) => sum + loops, 0),
  };
}

/** A counted loop is the doing of the stage that finished before it; what waits is paired with its answer by its number in the run. */
export function foldSteps(steps: readonly InsightStep[]): Pick<Insights, "loops" | "waits"> {
  const loops = new Map<string, Insights["loops"][number]>();
  const waits = new Map<
    string,
    { readonly row: Pick<WaitRow, "kind" | "flow" | "stage">; times: number; ms: number[]; gone: number }
  >();
  const open = new Map<string, { readonly key: string; readonly at: string }>();
  let judge = { run: 0, stage: "" };
  for (const { run, flow, type, at, stage, item, kind, looped } of steps) {
    if (type === "stage.finished") judge = { run, stage: stage ?? "" };
    else if (type === "counter.changed") {
      if (looped === 0 || judge.run !== run) continue;
      const key = `${flow} ${judge.stage}`;
      loops.set(key, { flow, stage: judge.stage, loops: (loops.get(key)?.loops ?? 0) + 1 });
    } else if (kind !== null) {
      const key = `${kind} ${flow} ${stage}`;
      const known = waits.get(key) ?? { row: { kind, flow, stage: stage ?? "" }, times: 0, ms: [], gone: 0 };
      known.times += 1;
      waits.set(key, known);
      open.set(`${run}.${item}`, { key, at });
    } else {
      const asked = open.get(`${run}.${item}`);
      const wait = asked === undefined ? undefined : waits.get(asked.key);
      if (asked === undefined || wait === undefined) continue;
      open.delete(`${run}.${item}`);
      if (type === "item.withdrawn") wait.gone += 1;
      else wait.ms.push(Date.parse(at) - Date.parse(asked.at));
    }
  }
  return {
    loops: [...loops.values()].toSorted((a, b) => b.loops - a.loops),
    waits: [...waits.values()]
      .map(({ row, times, ms, gone }) => ({
        ...row,
        times,
        open: times - ms.length - gone,
        medianMs: median(ms),
        longestMs: ms.length === 0 ? null : Math.max(...ms),
      }))
      .toSorted((a, b) => (b.longestMs ?? 0) - (a.longestMs ?? 0)),
  };
}

function median(values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  if (sorted.length === 0) return null;
  return sorted.length % 2 === 1
    ? (sorted[Math.floor(middle)] ?? null)
    : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}
