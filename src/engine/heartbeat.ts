// Looks after the runs at a fixed pace, the first time at once: starts what is due, notices runs that work without a sign of life, and takes
// work back from agents outside that fell silent. A stalled run goes on; people get one notice per silence.

import { attemptFacts } from "../core/attempt-facts.ts";
import type { RunEvent } from "../core/run/event.ts";
import { silentAttempts } from "../core/run/lease.ts";
import type { Run } from "../core/run/run.ts";
import type { SignalBody } from "../core/run/signal.ts";
import { runningAttempts } from "../core/run/startable.ts";
import { flowOf } from "../store/flow-of.ts";
import type { Store } from "../store/store.ts";
import type { Clock } from "./clock.ts";
import type { Engine } from "./engine.ts";
import type { EngineListener } from "./listeners.ts";

export type Heartbeat = Pick<EngineListener, "onAgentEvent"> & {
  /** One look; also called by the timer. */
  tick(): Promise<void>;
  close(): Promise<void>;
};

export type HeartbeatOptions = {
  readonly store: Pick<Store, "activeRuns" | "attempts" | "events" | "findRuns" | "loadFlow" | "loadRun">;
  readonly engine: Pick<Engine, "catchUp" | "deliver">;
  readonly clock: Pick<Clock, "now">;
  readonly tickMs: number;
  readonly stalledAfterMs: number;
  readonly onError: (runId: string | null, error: unknown) => void;
  /** Calls back at this pace until the returned function is called. */
  readonly every?: (ms: number, look: () => void) => () => void;
};

const PAGE = 500;

export function openHeartbeat(options: HeartbeatOptions): Heartbeat {
  const { store, engine, clock, stalledAfterMs, tickMs, onError, every = byTimer } = options;
  /** When an agent's program last showed something; a run that waits for its first sign is judged by its events. */
  const signs = new Map<string, string>();
  /** While no process performed, an agent outside could not show anything: its lease begins anew. */
  const openedAt = clock.now();
  let turn: Promise<void> = Promise.resolve();

  const tick = (): Promise<void> => {
    turn = turn.then(look).catch((error: unknown) => onError(null, error));
    return turn;
  };
  const stop = every(tickMs, () => void tick());
  void tick();
  return {
    onAgentEvent: ({ run }) => void signs.set(run.id, clock.now()),
    tick,
    async close() {
      stop();
      await turn;
    },
  };

  async function look(): Promise<void> {
    await engine.catchUp();
    const active = await store.activeRuns();
    for (const id of signs.keys()) if (!active.includes(id)) signs.delete(id);
    for (const id of active) await lookAt(id).catch((error: unknown) => onError(id, error));
  }

  async function lookAt(id: string): Promise<void> {
    const stored = await store.loadRun(id);
    if (stored === undefined) return;
    if (isHeldOutside(stored.run)) await takeBack(stored.run);
    if (!isAtWork(stored.run)) return;
    const summary = (await store.findRuns(id)).find((each) => each.id === id);
    const before = new Date(Date.parse(clock.now()) - stalledAfterMs).toISOString();
    const sign = signs.get(id) ?? "";
    if (summary === undefined || sign > before || summary.updatedAt > before) return;
    const since = await lastEvent(id, sign);
    if (since === undefined) return;
    await signal(id, { type: "stall.noticed", since }, `stall:${since}`);
  }

  async function takeBack(run: Run): Promise<void> {
    const { flow } = await flowOf(store, run);
    const attempts = flow.handoffs.leaseMs === undefined ? [] : await store.attempts(run.id);
    const lastSign = (stage: string, attempt: number): string | null => {
      const record = attempts.find((each) => each.stage === stage && each.attempt === attempt);
      const sign = record === undefined ? null : attemptFacts(record).lastSign;
      return sign !== null && sign > openedAt ? sign : openedAt;
    };
    for (const { stage, attempt, reason } of silentAttempts(flow, run, lastSign, clock.now())) {
      await signal(run.id, { type: "attempt.silent", stage, attempt, reason }, `silent:${stage}:${attempt}`);
    }
  }

  /** The same silence has the same id, also for the next process. */
  async function signal(runId: string, body: SignalBody, id: string): Promise<void> {
    await engine.deliver(runId, body, "engine", id);
  }

  /** The last event that is not itself about the silence. */
  async function lastEvent(runId: string, sign: string): Promise<string | undefined> {
    let last: string | undefined = sign === "" ? undefined : sign;
    for (let after = 0; ; ) {
      const page = await store.events({ runId, after, limit: PAGE });
      for (const { event } of page) if (!isAboutSilence(event) && event.at > (last ?? "")) last = event.at;
      if (page.length < PAGE) return last;
      after = page.at(-1)?.seq ?? after;
    }
  }
}

/** A program of this machine works for it; runs that wait for people or for somebody outside are not stalled. */
function isAtWork(run: Run): boolean {
  return run.status === "running" && !run.paused && runningAttempts(run).length > 0;
}

function isHeldOutside({ tracks }: Run): boolean {
  return Object.values(tracks).some((track) => track.at === "running" && track.outside === true);
}

function isAboutSilence({ type }: RunEvent): boolean {
  return type === "run.stalled" || type === "status.changed" || type === "signal.ignored";
}

function byTimer(ms: number, look: () => void): () => void {
  const timer = setInterval(look, ms).unref();
  return () => clearInterval(timer);
}
