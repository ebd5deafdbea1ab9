// The real engine on the real store file, with attempts that answer inside this process and a clock that tests move.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ResolvedFlow } from "../../src/core/flow/agent.ts";
import type { Metered } from "../../src/core/budget/budget.ts";
import { type Flow, resolveFlow } from "../../src/core/flow/flow.ts";
import { flowFileSchema } from "../../src/core/flow/flow-file.ts";
import type { Report } from "../../src/core/flow/outcome.ts";
import { err } from "../../src/core/result.ts";
import { type InboxItem, openItems, type Run } from "../../src/core/run/run.ts";
import { builtins } from "../../src/attempt/builtins.ts";
import type { AttemptJob, AttemptPorts } from "../../src/attempt/job.ts";
import { createEngine, type Engine } from "../../src/engine/engine.ts";
import type { EngineOptions } from "../../src/engine/options.ts";
import { openSqliteStore } from "../../src/store/sqlite/open.ts";
import type { Store } from "../../src/store/store.ts";
import type { Workspaces } from "../../src/workspace/workspace.ts";
import { dropStore, openTestStore } from "./test-store.ts";
import { until } from "./until.ts";
import { optional } from "../../src/core/optional.ts";

/** A job and its ports in one, as scripted agents read them. */
export type ScriptedJob = AttemptJob & AttemptPorts;

export type ScriptedOptions = Pick<EngineOptions, "budgets" | "lingerMs"> & {
  readonly agent: (job: ScriptedJob) => Report | Promise<Report>;
  /** A list is a ladder. */
  readonly metered?: (stage: string) => Metered | readonly Metered[] | null;
  readonly slots?: number;
  readonly onUsage?: EngineOptions["onUsage"];
  /** Between the engine and the store file: a store that fails, or loses its answers. */
  readonly wrap?: (store: Store) => Store;
  /** An existing folder; the harness does not remove it. */
  readonly home?: string;
};

export type Scripted = {
  engine: Engine;
  store: Store;
  readonly home: string;
  readonly errors: unknown[];
  /** Moves both clocks forward and starts stages that became due. */
  advance(ms: number): Promise<void>;
  /** Sets only the wall clock, as a person or a time server does. */
  setWall(ms: number): void;
  now(): string;
  start(runId: string, flow?: ResolvedFlow): Promise<void>;
  load(runId: string): Promise<Run>;
  /** Polls until the condition holds for the run. */
  until(runId: string, what: string, holds: (run: Run) => boolean): Promise<Run>;
  answer(runId: string, kind: InboxItem["kind"], answer: string, text?: string): Promise<string | undefined>;
  types(runId: string): Promise<readonly string[]>;
  /** Ends the engine and starts another one on the same file. */
  restart(): Promise<void>;
  /** Throws if the engine met an error, or if the store is not the fold of its events. */
  close(): Promise<void>;
};

export function flowOf(stages: readonly object[], more: object = {}): ResolvedFlow {
  const file = { flow: "small", version: 1, subject: "thing", allow_ungated: true, stages, ...more };
  const flow: Flow = resolveFlow(flowFileSchema.parse(file));
  return { flow, agents: {}, prompts: {}, hash: JSON.stringify(file) };
}

const never = (): never => {
  throw new Error("not needed here");
};
const open = async () => err({ code: "no_workspace", message: "there is none here" });
const workspaces: Workspaces = { mode: "worktree", open, head: never, diff: never, unlock: never, close: never };

export async function openScripted(options: ScriptedOptions): Promise<Scripted> {
  const home = options.home ?? mkdtempSync(join(tmpdir(), "passrail-scripted-"));
  const errors: unknown[] = [];
  let wallMs = Date.parse("2026-01-01T12:00:00.000Z");
  let monotonicMs = 0;
  let ids = 0;
  const clock = { now: () => new Date(wallMs).toISOString(), monotonicMs: () => monotonicMs };
  const wrap = options.wrap ?? ((store: Store) => store);
  const openStore = async () =>
    wrap((await openTestStore(home)) ?? openSqliteStore({ file: join(home, "passrail.db") }));
  const start = (store: Store): Engine =>
    createEngine({
      store,
      clock,
      slots: options.slots ?? 20,
      agentLimits: {},
      runStage: async (job, ports) => options.agent({ ...job, ...ports }),
      runners: {
        runnerFor: never,
        checkRunner: never,
        desk: { open: never, close: never },
        enclosure: "markers",
        gateway: { mode: "off", egress: null, private: [], tape: "off" },
        redact: (text) => text,
        redactor: never,
      },
      builtins,
      processes: { killLeftovers: async () => 0, findMarked: () => [] },
      workspaces: () => workspaces,
      notifier: null,
      home,
      storeId: "scripted",
      newId: () => `id-${home}-${++ids}`,
      url: () => "",
      readYaml: never,
      onError: (_runId, error) => errors.push(error),
      metered: (_resolved, _run, stage) => [options.metered?.(stage.id) ?? []].flat(),
      ...optional({ budgets: options.budgets, lingerMs: options.lingerMs, onUsage: options.onUsage }),
    });
  const store = await openStore();
  const scripted: Scripted = {
    engine: start(store),
    store,
    home,
    errors,
    async advance(ms) {
      wallMs += ms;
      monotonicMs += ms;
      await scripted.engine.catchUp();
    },
    setWall(ms) {
      wallMs = ms;
    },
    now: clock.now,
    async start(runId, flow = flowOf([{ id: "build", agent: "builder" }])) {
      const facts = { config: { project: `/${runId}`, workspace: "worktree" } };
      const subject = { id: `S-${runId}`, title: "t", body: "" };
      await scripted.engine.startRun({ runId, resolved: flow, subject, facts, actor: "human:t" });
    },
    async load(runId) {
      const stored = await scripted.store.loadRun(runId);
      if (stored === undefined) throw new Error(`no run ${runId}`);
      return stored.run;
    },
    until: (runId, what, holds) =>
      until(`${runId}: ${what}`, async () => {
        // A store that fails now may answer the next time.
        const run = await scripted.load(runId).catch(() => undefined);
        return run !== undefined && holds(run) ? run : undefined;
      }),
    async answer(runId, kind, answer, text = "") {
      const item = openItems(await scripted.load(runId)).find((open) => open.kind === kind);
      if (item === undefined) throw new Error(`no open ${kind}`);
      const body = { type: "item.answered", number: item.number, kind, answer, text } as const;
      return (await scripted.engine.deliver(runId, body, "human:t")).ignored;
    },
    async types(runId) {
      return (await scripted.store.events({ after: 0, runId, limit: 1000 })).map(({ event }) => event.type);
    },
    async restart() {
      await scripted.engine.close();
      scripted.store.close();
      scripted.store = await openStore();
      scripted.engine = start(scripted.store);
      await scripted.engine.perform();
    },
    async close() {
      await scripted.engine.close();
      const damages = await scripted.store.verify();
      scripted.store.close();
      if (options.home === undefined) {
        await dropStore(home);
        rmSync(home, { recursive: true });
      }
      if (errors.length > 0) throw new AggregateError(errors, "the engine met errors");
      if (damages.length > 0) throw new Error(`the store is damaged: ${JSON.stringify(damages)}`);
    },
  };
  await scripted.engine.perform();
  return scripted;
}
