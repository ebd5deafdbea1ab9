// The lease of an agent outside on the work that it has taken. It lasts from one sign of life to the next; there is no process to look
// for, so silence is the only sign that the agent is gone.

import { formatDuration } from "../flow/duration.ts";
import type { Flow } from "../flow/flow.ts";
import type { Run } from "./run.ts";
import { findWork } from "./sequence.ts";

/** When the holder of an attempt last showed that it works; null if it has not since it took it. */
export type LastSign = (stage: string, attempt: number) => string | null;

export type SilentAttempt = { readonly stage: string; readonly attempt: number; readonly reason: string };

/** The attempts of a run whose holders were silent for longer than the flow allows. A paused run takes nothing back. */
export function silentAttempts(flow: Flow, run: Run, lastSign: LastSign, now: string): readonly SilentAttempt[] {
  const { leaseMs } = flow.handoffs;
  if (leaseMs === undefined || run.paused) return [];
  return Object.entries(run.tracks).flatMap(([name, track]) => {
    if (track.at !== "running" || track.outside !== true) return [];
    const { stage, attempt, since } = track;
    const until = leaseUntil(flow, since, lastSign(stage, attempt));
    if (until === null || now <= until) return [];
    const agent = findWork(flow, run, name, stage)?.shownAgent ?? stage;
    const reason = `Taken back: ${agent} gave no sign of life for ${formatDuration(leaseMs)}`;
    return [{ stage, attempt, reason }];
  });
}

/** The time until which the holder must give its next sign of life; null without a lease. */
export function leaseUntil({ handoffs }: Flow, since: string, sign: string | null): string | null {
  if (handoffs.leaseMs === undefined) return null;
  const last = sign !== null && sign > since ? sign : since;
  return new Date(Date.parse(last) + handoffs.leaseMs).toISOString();
}
