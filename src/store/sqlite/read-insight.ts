// Insights and the results of a flow, a few runs at a time: they look at a thousand runs, and the engine commits meanwhile. A run that changes
// between two steps counts as it is when its turn comes.

import { FAILURES_AT_MOST, foldSteps, type InsightStep, type RunEndRow, statsOf } from "../insight-fold.ts";
import type { FlowStats, Insights } from "../store.ts";
import { inBreaths } from "./breaths.ts";
import type { FoundFailure } from "./insight.ts";
import type { Reads } from "./read.ts";

type Ask = <T>(query: (reads: Reads) => T) => Promise<T>;

/** About a millisecond. */
const RUNS_AT_ONCE = 10;

export async function readInsights(ask: Ask, query: Parameters<Reads["newestRuns"]>[0]): Promise<Insights> {
  const numbers = await ask((reads) => reads.newestRuns(query));
  const steps: InsightStep[] = [];
  let failures: readonly FoundFailure[] = [];
  await inParts(numbers, async (part) => {
    const found = await ask((reads) => reads.stepsOf(part));
    steps.push(...found.steps);
    failures = [...failures, ...found.failures].toSorted((a, b) => b.seq - a.seq).slice(0, FAILURES_AT_MOST);
  });
  const named = await ask((reads) => failures.map((failure) => reads.withAgent(failure)));
  return { runs: numbers.length, ...foldSteps(steps), failures: named };
}

export async function readFlowStats(ask: Ask, query: Parameters<Reads["lastOfFlow"]>[0]): Promise<FlowStats> {
  const ends: RunEndRow[] = [];
  await inParts(await ask((reads) => reads.lastOfFlow(query)), async (part) => {
    ends.push(...(await ask((reads) => reads.endsOf(part))));
  });
  return statsOf(ends);
}

async function inParts(numbers: readonly number[], look: (part: readonly number[]) => Promise<void>): Promise<void> {
  const breath = inBreaths();
  for (let at = 0; at < numbers.length; at += RUNS_AT_ONCE) {
    await look(numbers.slice(at, at + RUNS_AT_ONCE));
    await breath();
  }
}
