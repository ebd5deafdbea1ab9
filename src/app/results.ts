// Reads the results of the newest runs. Always a limited number of runs, so that an answer costs the same in a store of any age.

import { attemptFacts } from "../core/attempt-facts.ts";
import type { Run } from "../core/run/run.ts";
import { findWork } from "../core/run/sequence.ts";
import { landedRecord } from "../core/ticket/landed.ts";
import { type ResultRun, type Results, resultsOf } from "../core/view/results.ts";
import { flowOf } from "../store/flow-of.ts";
import type { AttemptRecord, RunSummary, Store } from "../store/store.ts";

type Reading = Pick<Store, "attempts" | "listRuns" | "loadFlow" | "loadRun">;

/** `since`: ISO 8601; runs that began then or later. */
export async function findResults(
  store: Reading,
  { since = "", limit }: { readonly since?: string; readonly limit: number },
): Promise<Results> {
  const newest = (await store.listRuns({ limit })).filter(({ createdAt }) => createdAt >= since);
  const rows: ResultRun[] = [];
  for (const summary of newest) {
    const run = (await store.loadRun(summary.id))?.run;
    if (run !== undefined) rows.push(await resultRun(store, summary, run));
  }
  return resultsOf(rows);
}

/** In the target, not only proposed. */
const IN_TARGET: ReadonlySet<string> = new Set(["land", "merged", "forced"]);

async function resultRun(store: Reading, { id, number, flow }: RunSummary, run: Run): Promise<ResultRun> {
  const [{ flow: stages }, attempts] = await Promise.all([flowOf(store, run), store.attempts(id)]);
  const { attempts: metered = 0, usd = 0, unknownUsd = 0, tokens = 0 } = run.spent ?? {};
  const agentOf = ({ track, stage }: AttemptRecord): string[] => {
    const found = findWork(stages, run, track, stage)?.agent;
    return found === undefined ? [] : [found];
  };
  const facts = attempts.map((attempt) => attemptFacts(attempt));
  return {
    id,
    number,
    title: run.subject.title,
    ticket: run.subject.id,
    flow,
    status: run.status,
    day: run.createdAt.slice(0, 10),
    loops: Object.values(run.counters).reduce((sum, { loops }) => sum + loops, 0),
    landed: IN_TARGET.has(landedRecord(attempts)?.how ?? ""),
    usd: metered === 0 || unknownUsd >= metered ? null : usd,
    unknownUsd,
    tokens,
    agents: distinct(attempts.flatMap(agentOf)),
    stages: distinct(attempts.map(({ stage }) => stage)),
    runners: distinct(facts.flatMap(({ runner }) => runner ?? [])),
    models: distinct(facts.flatMap(({ model }) => model ?? [])),
  };
}

function distinct(values: readonly string[]): readonly string[] {
  return [...new Set(values)];
}
