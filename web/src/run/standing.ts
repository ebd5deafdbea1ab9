// The state of a run and the reason in one line, so that a person sees at once whether it is stuck.

import { type ShownName, shownOf } from "../base/status.ts";
import { clock } from "../ui/time.tsx";
import type { RunDetail, ListedRun } from "./types.ts";

export type RunStanding = { readonly is: ShownName; readonly why: string };

export function standingOfRow(run: ListedRun): RunStanding {
  const is = shownOf({ ...run, loops: run.loop?.loops ?? 0 });
  switch (run.status) {
    case "waiting":
      return { is, why: `${run.why ?? "a person"} · ${run.agent ?? ""} since ${clock(run.since)}` };
    case "running":
      return { is, why: run.why ?? (run.agent === null ? "" : `${run.agent} works`) };
    case "stopped":
    case "canceled":
      return { is, why: run.why ?? "" };
    case "completed":
      return { is, why: "" };
  }
}

export function standingOf(run: RunDetail): RunStanding {
  const loops = Math.max(0, ...run.counters.map((counter) => counter.loops));
  const waitsFor = run.items.map(({ kind }) => kind);
  return { is: shownOf({ ...run, waitsFor, loops }), why: whyOf(run) };
}

function whyOf(run: RunDetail): string {
  const [item, ...more] = run.items;
  if (run.status === "waiting" && item !== undefined) {
    const others = more.length === 0 ? "" : `, and ${more.length} more`;
    return `waiting for ${item.who} since ${clock(item.openedAt)} (${item.kind} ${item.stage}${others})`;
  }
  if (run.resumesAt !== null) return `resumes at ${clock(run.resumesAt)}`;
  if (run.reason !== null && run.reason !== "") return run.reason;
  const working = run.stages.filter(({ state }) => state === "running" || state === "ready");
  if (run.status === "running" && working.length > 0)
    return working
      .map(({ id, who, state, attempts }) => {
        const attempt = attempts.at(-1)?.attempt ?? 1;
        return state === "ready" ? `${id} #${attempt} is queued` : `${who} works on ${id} #${attempt}`;
      })
      .join(", ");
  return run.endedAt === null ? "" : `since ${clock(run.endedAt)}`;
}
