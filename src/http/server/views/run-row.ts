// A run as a row of a list: the agent that works or the person it waits for, since when, loops, and cost.

import type { z } from "zod";
import type { runPageSchema } from "../../contract/schemas/run.ts";
import type { ResolvedFlow } from "../../../core/flow/agent.ts";
import { runState } from "../../../core/view/run-state.ts";
import type { Flow } from "../../../core/flow/flow.ts";
import { counterRows } from "../../../core/run/counters.ts";
import { withLate } from "../../../core/run/outward.ts";
import { openItems, type Run } from "../../../core/run/run.ts";
import { findWork } from "../../../core/run/sequence.ts";
import type { RunSummary } from "../../../store/store.ts";

type Row = z.input<typeof runPageSchema>["runs"][number];

/** `now`: milliseconds. */
export function showRow(summary: RunSummary, run: Run, resolved: ResolvedFlow, now: number): Row {
  const { spent } = run;
  const { flow } = resolved;
  return {
    ...summary,
    state: { ...runState(resolved, run, now) },
    paused: run.paused,
    agent: agentOf(flow, run),
    why: whyOf(run),
    waitsFor: openItems(run).map(({ kind }) => kind),
    since: sinceOf(run),
    loop: loopOf(flow, run),
    spent: spent === undefined ? null : { usd: spent.usd, unknownUsd: spent.unknownUsd },
  };
}

/** The working agent; without one, the person or agent that the run waits for. */
function agentOf(flow: Flow, run: Run): string | null {
  const working = Object.entries(run.tracks).flatMap(([track, state]) =>
    state.at === "running" || state.at === "ready" ? (findWork(flow, run, track, state.stage)?.shownAgent ?? []) : [],
  );
  if (run.status === "running" && working.length > 0) return [...new Set(working)].join(", ");
  return openItems(run)[0]?.who ?? null;
}

function whyOf(run: Run): string | null {
  switch (run.status) {
    case "waiting": {
      const items = openItems(run);
      return items.length === 0 ? null : items.map(({ kind, stage }) => `${kind} ${stage}`).join(", ");
    }
    case "stopped":
    case "canceled":
      return withLate(run.reason, run) || null;
    case "running":
      return (
        Object.values(run.tracks).flatMap((track) =>
          track.at === "ready" && track.because !== undefined ? [track.because] : [],
        )[0] ?? null
      );
    case "completed":
      return null;
  }
}

function sinceOf(run: Run): string {
  switch (run.status) {
    case "completed":
    case "canceled":
      return run.endedAt;
    case "waiting":
    case "stopped":
      return run.since;
    case "running": {
      const times = Object.values(run.tracks).flatMap((track) => ("since" in track ? [track.since] : []));
      return times.toSorted().at(-1) ?? run.createdAt;
    }
  }
}

function loopOf(flow: Flow, run: Run): Row["loop"] {
  const [most] = counterRows(flow, run).toSorted((a, b) => b.loops - a.loops);
  return most === undefined || most.loops === 0 ? null : { ...most };
}
