// The counters of a run as rows: how many loops each has counted, and its limit. Counting itself is in counting.ts.

import { type Flow, MAIN_TRACK, type WorkStage, worksOf } from "../flow/flow.ts";
import { counterKey } from "./counting.ts";
import type { Run } from "./run.ts";

export type CounterRow = { readonly key: string; readonly loops: number; readonly max: number | null };

/** Every counter with its limit; null for none. */
export function counterRows(flow: Flow, run: Run): readonly CounterRow[] {
  return Object.entries(countersOf(flow, run)).map(([key, loops]) => ({ key, loops, max: counterLimit(flow, key) }));
}

/** The limit of a counter by its key, with or without the name of a track or a stage before it; null for none. */
export function counterLimit(flow: Flow, key: string): number | null {
  const name = key in flow.counters ? key : key.slice(key.indexOf(".") + 1);
  return flow.counters[name]?.maxLoops ?? null;
}

/** The loops of every counter of the flow, including those that have not counted yet; one key per track where each track has its own. */
export function countersOf(flow: Flow, run: Run): Readonly<Record<string, number>> {
  const keys = Object.entries(flow.counters).flatMap(([name, counter]) => {
    if (counter.scope === "stage") {
      const users = flow.stages.flatMap(worksOf).filter((stage) => counts(stage, name));
      return users.map(({ id }) => counterKey(counter, name, { track: MAIN_TRACK, stage: id }));
    }
    const tracks = flow.stages.flatMap((stage) =>
      stage.kind === "parallel"
        ? Object.entries(stage.tracks).flatMap(([track, plan]) =>
            plan.stages.some((inner) => counts(inner, name)) ? [track] : [],
          )
        : [],
    );
    return tracks.length === 0 ? [name] : tracks.map((track) => counterKey(counter, name, { track, stage: "" }));
  });
  const known = Object.fromEntries(Object.entries(run.counters).map(([key, state]) => [key, state.loops]));
  return { ...Object.fromEntries(keys.map((key) => [key, 0])), ...known };
}

function counts(stage: WorkStage, counter: string): boolean {
  return Object.values(stage.route).some((route) => route.counter === counter);
}
