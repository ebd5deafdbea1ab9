// The state of a run and the reason in one line, so that a person sees at once whether it is stuck.

import { type ShownName, shownOf } from "../base/status.ts";
import { minute } from "../ui/time.tsx";
import type { RunDetail, ListedRun } from "./types.ts";

export type RunStanding = { readonly is: ShownName; readonly why: string };

export function standingOfRow(run: ListedRun): RunStanding {
  const is = shownOf({ ...run, loops: run.loop?.loops ?? 0 });
  // Since when is another column.
  return { is, why: whyOf(run, null) };
}

/** With its end it is known whether the work has landed. */
export function standingOf(run: RunDetail): RunStanding {
  const loops = Math.max(0, ...run.counters.map((counter) => counter.loops));
  const is = run.status === "completed" ? endOf(run) : shownOf({ ...run, loops });
  if (run.endedAt !== null && run.state.text === "") return { is, why: `since ${minute(run.endedAt)}` };
  return { is, why: whyOf(run, run.status === "waiting" ? (run.items[0]?.openedAt ?? null) : null) };
}

function endOf({ end }: RunDetail): ShownName {
  if (end?.state === "landed") return "landed";
  return end?.state === "kept" || end?.state === "pushed" || end?.state === "proposed" ? "notLanded" : "completed";
}

function whyOf({ state: { text, until } }: Pick<RunDetail, "state">, since: string | null): string {
  const times = [
    ...(until === null ? [] : [`until ${minute(until)}`]),
    ...(since === null ? [] : [`since ${minute(since)}`]),
  ];
  return [text, ...times].filter((part) => part !== "").join(" ");
}
