// Whether speed drops with size: a run in a store that holds thousands, and a revision of a run that had hundreds.

import { cpSync } from "node:fs";
import type { ResolvedFlow } from "../src/core/flow/agent.ts";
import type { Report } from "../src/core/flow/outcome.ts";
import type { AttemptJob, AttemptPorts } from "../src/attempt/job.ts";
import { inFolder, median, type Row, ratio, sample } from "./measure.ts";
import { answerAfter, featureFlow, openWorkload, unlimited, type Workload } from "./workload.ts";

const BATCH = 100;
const EARLY = 10;
const LATE = 9_900;
const ROUNDS = 9;

/** Batches of a hundred runs in a store with ten runs and in one with 9,900, in turns. Each early batch begins with its ten again. */
export function measureLateRuns(base: string): Promise<readonly Row[]> {
  return inFolder(base, async (dir) => {
    const flow = unlimited(featureFlow());
    const late = await openWorkload(`${dir}/late`, { flow });
    // Not measured. Parked runs of the same size would do, but a real store is full of completed ones.
    for (let runs = 0; runs < LATE; runs += BATCH) await late.complete(BATCH);
    const seed = await openWorkload(`${dir}/seed`, { flow });
    await seed.complete(EARLY);
    await seed.close();
    const costs: { early: number[]; late: number[] } = { early: [], late: [] };
    for (let round = 0; round <= ROUNDS; round += 1) {
      const early = await copyOf(`${dir}/seed`, `${dir}/early-${round}`, flow);
      const first = await sample(() => early.complete(BATCH));
      await early.close();
      const last = await sample(() => late.complete(BATCH));
      if (round === 0) continue;
      costs.early.push(first.wallMs / BATCH);
      costs.late.push(last.wallMs / BATCH);
    }
    await late.close();
    return [
      { name: "a run among the first 110", value: median(costs.early), unit: "ms" },
      { name: "a run after 10,000", value: median(costs.late), unit: "ms" },
      {
        name: "10,000th run against the 10th",
        value: ratio(costs.late, costs.early),
        unit: "x",
        limit: { is: "at most", value: 1.3 },
      },
    ];
  });
}

function copyOf(from: string, to: string, flow: ResolvedFlow): Promise<Workload> {
  cpSync(from, to, { recursive: true });
  return openWorkload(to, { flow });
}

const WARM_UP = 5;
const MEASURED = 50;
const REVISIONS = 500;

/** Two runs side by side, one at its first revisions and one at its last fifty, a revision of each in turns. */
export function measureLateRevisions(base: string): Promise<readonly Row[]> {
  return inFolder(base, async (dir) => {
    const hand = handStepped();
    const workload = await openWorkload(`${dir}/store`, { flow: endlessRevisions(), agent: hand.agent });
    const old = await hand.begin(() => workload.park(1, "ship"));
    for (let revision = 0; revision < REVISIONS - MEASURED; revision += 1) await hand.revise(old);
    const young = await hand.begin(() => workload.park(1, "ship"));
    for (let revision = 0; revision < WARM_UP; revision += 1) await hand.revise(young);
    const costs: { first: number[]; last: number[] } = { first: [], last: [] };
    for (let revision = 0; revision < MEASURED; revision += 1) {
      costs.first.push((await sample(() => hand.revise(young))).wallMs);
      costs.last.push((await sample(() => hand.revise(old))).wallMs);
    }
    await workload.engine.close();
    workload.store.close();
    return [
      { name: "a revision among the first 50", value: median(costs.first), unit: "ms" },
      { name: "a revision among the last 50 of 500", value: median(costs.last), unit: "ms" },
      {
        name: "500th revision against the first",
        value: median(costs.last) / median(costs.first),
        unit: "x",
        limit: { is: "at most", value: 1.3 },
      },
    ];
  });
}

/** `max_attempts: none` for the counter of revisions. */
export function endlessRevisions(): ResolvedFlow {
  const resolved = unlimited(featureFlow());
  const counters = Object.entries(resolved.flow.counters).map(([name, counter]) => [
    name,
    { ...counter, maxLoops: null },
  ]);
  const flow = { ...resolved.flow, counters: Object.fromEntries(counters) as typeof resolved.flow.counters };
  return { ...resolved, hash: `${resolved.hash}-endless`, flow };
}

type Waiting = { readonly job: AttemptJob; readonly say: (report: Report) => void };

/** Agents that answer only on command, so that two runs can advance in turns. */
function handStepped() {
  const waiting = new Map<string, Waiting>();
  let arrived: ((runId: string) => void) | undefined;

  const agent = (job: AttemptJob, { signal }: AttemptPorts) =>
    new Promise<Report>((say) => {
      waiting.set(job.run.id, { job, say });
      signal.addEventListener("abort", () => say({ cause: "canceled" }));
      arrived?.(job.run.id);
    });

  function nextArrival(): Promise<string> {
    return new Promise((resolve) => {
      arrived = resolve;
    });
  }

  /** Lets the current attempt of a run end; resolves when the next one has begun. */
  async function step(runId: string): Promise<void> {
    const current = waiting.get(runId);
    if (current === undefined) throw new Error(`nothing waits in run ${runId}`);
    const next = nextArrival();
    current.say(answerAfter(Number.POSITIVE_INFINITY, current.job));
    await next;
  }

  return {
    agent,
    step,
    /** Starts a run and brings it to its first QA. It never ends without a command. */
    async begin(start: () => Promise<unknown>): Promise<string> {
      const first = nextArrival();
      start().catch((error: unknown) => {
        throw error;
      });
      const runId = await first;
      for (let stage = 0; stage < 3; stage += 1) await step(runId);
      return runId;
    },
    /** QA sends it back, the builder builds: two handoffs. */
    async revise(runId: string): Promise<void> {
      await step(runId);
      await step(runId);
    },
  };
}
