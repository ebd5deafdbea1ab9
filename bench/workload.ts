// The measured work: the shipped `feature` flow on the real engine and the real store file, with agents that answer at once inside this
// process. One REVISE per run: start gate, spec, design, build, qa, build, qa, ship gate, done.

import { randomBytes, randomUUID } from "node:crypto";
import { killLeftovers } from "../src/runner/process/kill-tree.ts";
import { findMarked } from "../src/runner/process/process-table.ts";
import { loadCatalog } from "../src/catalog/catalog.ts";
import { shippedDir } from "../src/settings/site.ts";
import type { ResolvedFlow } from "../src/core/flow/agent.ts";
import type { RunEvent } from "../src/core/run/event.ts";
import type { Stage } from "../src/core/flow/flow.ts";
import type { Report } from "../src/core/flow/outcome.ts";
import { openItems, type Run, type Subject } from "../src/core/run/run.ts";
import { isWork } from "../src/core/run/sequence.ts";
import { systemClock } from "../src/engine/clock.ts";
import { builtins } from "../src/attempt/builtins.ts";
import { createEngine, type Engine } from "../src/engine/engine.ts";
import type { AttemptJob, AttemptPorts } from "../src/attempt/job.ts";
import { openSqliteStore } from "../src/store/sqlite/open.ts";
import type { Store } from "../src/store/store.ts";
import { nobody } from "../test/harness/nobody.ts";

/** Gates answered and attempts finished in one run of the workload. */
export const HANDOFFS_PER_RUN = 8;
const SLOTS = 100;

export type Workload = {
  readonly store: Store;
  readonly engine: Engine;
  /** Milliseconds from an agent's or a person's answer until it is durable. The reader clears it. */
  readonly latencies: number[];
  /** Runs this many at once; resolves when all are completed. */
  complete(runs: number): Promise<void>;
  /** Starts this many; resolves when all wait at the gate. */
  park(runs: number, gate: "start" | "ship"): Promise<void>;
  close(): Promise<void>;
};

export type WorkloadOptions = {
  readonly flow?: ResolvedFlow;
  readonly agent?: (job: AttemptJob, ports: AttemptPorts) => Report | Promise<Report>;
  /** The subject of the next run. */
  readonly subject?: () => Subject;
  /** The folder that runs name as theirs; it is never read here. */
  readonly project?: string;
  /** Instead of a file in its folder. */
  readonly store?: Store;
};

const SUBJECT: Subject = {
  id: "F-1",
  title: "Export the report as CSV",
  body: "One row per booking, UTF-8, with a header.",
};

export function featureFlow(): ResolvedFlow {
  const resolved = loadCatalog({ shippedDir }).resolve("feature");
  if (!resolved.ok) throw new Error(JSON.stringify(resolved.error));
  return resolved.value;
}

/** The same flow without its limit of one build at a time: with it, runs would wait for each other instead of the store. */
export function unlimited(resolved: ResolvedFlow): ResolvedFlow {
  const stages = resolved.flow.stages.map((stage): Stage => (isWork(stage) ? { ...stage, concurrency: SLOTS } : stage));
  return { ...resolved, hash: `${resolved.hash}-unlimited`, flow: { ...resolved.flow, stages } };
}

/** A store file and a performing engine on it; `home` is its folder. */
export async function openWorkload(home: string, options: WorkloadOptions = {}): Promise<Workload> {
  const { flow = featureFlow(), agent = answerAtOnce, subject = () => SUBJECT, project = "/project" } = options;
  const { store = openSqliteStore({ file: `${home}/passrail.db` }) } = options;
  const latencies: number[] = [];
  const saidAt = new Map<string, number>();
  const onceAt = new Map<string, { gate: string; reached: () => void }>();
  const failures: unknown[] = [];
  const engine = openEngine(home, store, SLOTS, {
    async runStage(job, ports) {
      const report = await agent(job, ports);
      saidAt.set(job.run.id, performance.now());
      return report;
    },
    onChange(run, events) {
      noteLatency(run, events);
      const goal = onceAt.get(run.id);
      const gate = gateOf(run);
      if (gate?.stage === goal?.gate || run.status === "completed") {
        onceAt.delete(run.id);
        saidAt.delete(run.id);
        goal?.reached();
      } else if (gate !== undefined) {
        answer(run.id, gate.number);
      } else if (run.status === "waiting" || run.status === "stopped") {
        // A flow that has changed must not be measured as something else.
        failures.push(new Error(`${run.id} ${run.status}: ${JSON.stringify(openItems(run))}`));
        goal?.reached();
      }
    },
    onError: (_runId, error) => failures.push(error),
  });
  await engine.perform();

  function noteLatency({ id }: Run, events: readonly RunEvent[]): void {
    if (!events.some(({ type }) => type === "stage.finished" || type === "gate.answered")) return;
    const since = saidAt.get(id);
    if (since !== undefined) latencies.push(performance.now() - since);
  }

  function answer(runId: string, number: number): void {
    saidAt.set(runId, performance.now());
    const body = { type: "item.answered", number, kind: "gate", answer: "approve", text: "" } as const;
    engine.deliver(runId, body, "human:owner").catch((error: unknown) => failures.push(error));
  }

  /** Until the run waits at this gate, or, for "", is completed. */
  async function runTo(gate: string): Promise<void> {
    const runId = newRunId();
    const reached = new Promise<void>((resolve) => onceAt.set(runId, { gate, reached: resolve }));
    const facts = { config: { project, workspace: "worktree" } };
    await engine.startRun({ runId, resolved: flow, subject: subject(), facts, actor: "human:owner" });
    await reached;
  }

  async function runAll(runs: number, gate: string): Promise<void> {
    await Promise.all(Array.from({ length: runs }, () => runTo(gate)));
    if (failures.length > 0) throw new AggregateError(failures, "the workload failed");
  }

  return {
    store,
    engine,
    latencies,
    complete: (runs) => runAll(runs, ""),
    park: (runs, gate) => runAll(runs, gate),
    async close() {
      await engine.idle();
      await engine.close();
      store.close();
    },
  };
}

type Told = Pick<Parameters<typeof createEngine>[0], "runStage" | "onError"> & {
  readonly onChange?: (run: Run, events: readonly RunEvent[]) => void;
};

export function openEngine(home: string, store: Store, slots: number, told: Told): Engine {
  return createEngine({
    store,
    clock: systemClock,
    slots,
    agentLimits: {},
    runners: nobody,
    builtins,
    processes: { killLeftovers, findMarked },
    workspaces: () => noWorkspaces,
    notifier: null,
    home,
    storeId: "bench",
    newId: () => randomUUID().replaceAll("-", ""),
    url: () => "",
    readYaml: () => {
      throw new Error("the workload reads no YAML");
    },
    ...told,
  });
}

/** QA asks for changes once and then finds its finding fixed; every other answer passes. */
export function answerAtOnce(job: Pick<AttemptJob, "stage" | "attempt">): Report {
  return answerAfter(1, job);
}

/** QA sends the work back this often, each time with another finding; the last one is fixed then. */
export function answerAfter(revisions: number, { stage, attempt }: Pick<AttemptJob, "stage" | "attempt">): Report {
  if (stage.id !== "qa") return { structured: true, verdict: "pass", summary: "done" };
  const findings = attempt === 1 ? [] : [{ id: `F${attempt - 1}`, state: "fixed", said: "the row is there" } as const];
  return attempt > revisions
    ? { structured: true, verdict: "pass", summary: "done", findings }
    : { structured: true, verdict: "revise", issues: [`row ${attempt} is missing`], findings };
}

export function newRunId(): string {
  return `r${randomBytes(5).toString("hex")}`;
}

function gateOf(run: Run): { readonly number: number; readonly stage: string } | undefined {
  return run.status === "waiting" ? openItems(run).find(({ kind }) => kind === "gate") : undefined;
}

const noWorkspaces = {
  mode: "worktree",
  open: unused,
  head: unused,
  diff: unused,
  unlock: unused,
  close: unused,
} as const;

function unused(): never {
  throw new Error("the workload opens no workspaces");
}
