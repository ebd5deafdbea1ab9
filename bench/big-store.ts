// A store after years of use: ten thousand runs with a hundred events each, written by the engine's own commits. Most are completed, some
// wait for a person, one is very long. Several belong to one ticket.

import type { Report } from "../src/core/flow/outcome.ts";
import type { Usage } from "../src/core/budget/usage.ts";
import type { AttemptJob } from "../src/attempt/job.ts";
import { endlessRevisions } from "./growth.ts";
import { answerAfter, openWorkload } from "./workload.ts";

export type BigStore = {
  readonly runs: number;
  readonly events: number;
  readonly waiting: number;
  /** Number of the run with the most events. */
  readonly longRun: number;
  readonly longEvents: number;
  readonly tookMs: number;
};

const WAITING = 100;
const AT_ONCE = 100;
const RUNS_PER_TICKET = 4;
/** Revisions that make a hundred events of a run. */
const REVISIONS = 4;
const LONG_REVISIONS = 1000;

/** `home`: the folder of the store. `project`: the folder that the runs name as theirs. */
export async function fillStore(home: string, project: string, runs: number): Promise<BigStore> {
  const since = performance.now();
  let made = 0;
  let revisions = LONG_REVISIONS;
  const workload = await openWorkload(home, {
    flow: endlessRevisions(),
    agent: (job) => revise(job, revisions),
    project,
    subject() {
      made += 1;
      const ticket = Math.ceil(made / RUNS_PER_TICKET);
      return { id: `T-${ticket}`, title: `Ticket ${ticket}`, body: "One row per booking, UTF-8, with a header." };
    },
  });
  await workload.complete(1);
  const longEvents = await workload.store.lastSeq();
  revisions = REVISIONS;
  for (let done = AT_ONCE; done < runs - WAITING; done += AT_ONCE) await workload.complete(AT_ONCE);
  await workload.complete(AT_ONCE - 1);
  await workload.park(WAITING, "ship");
  const events = await workload.store.lastSeq();
  await workload.close();
  return { runs: made, events, waiting: WAITING, longRun: 1, longEvents, tookMs: performance.now() - since };
}

/** QA returns the work this often, then passes. Every attempt reports its cost. */
function revise(job: AttemptJob, revisions: number): Report {
  return { ...answerAfter(revisions, job), usage: { runner: "claude", model: "sonnet", usage: USAGE } };
}

const USAGE: Usage = { usd: 0.0123, inputTokens: 12_000, outputTokens: 800, cachedTokens: 9_000 };
