// How the use cases reach the engine. A signal is tried on the run first: one that does not fit leaves no trace, and its key can be used
// again.

import type { Actor } from "../core/run/event.ts";
import { err, ok, type Result } from "../core/result.ts";
import type { Run } from "../core/run/run.ts";
import type { SignalBody } from "../core/run/signal.ts";
import { transition } from "../core/run/transition.ts";
import type { Engine } from "../engine/engine.ts";
import type { Delivered } from "../engine/runs.ts";
import { flowOf } from "../store/flow-of.ts";
import type { Store } from "../store/store.ts";

export type Delivering = {
  readonly engine: Pick<Engine, "deliver">;
  readonly store: Store;
  /** ISO 8601, UTC. */
  readonly now: () => string;
};

export type Sent = {
  readonly actor: Actor;
  /** Becomes the signal's id: the engine applies the same key once per run, also after a restart. */
  readonly key?: string;
  /** The version of the run that the sender decided upon, if the decision counts for that one only. */
  readonly ifVersion?: number;
};

/** The error says why the signal does not fit the run. */
export async function deliver(
  { engine, store, now }: Delivering,
  run: Run,
  body: SignalBody,
  { actor, key, ifVersion }: Sent,
): Promise<Result<Delivered, string>> {
  const { flow } = await flowOf(store, run);
  const { ignored } = transition(flow, run, { ...body, id: "", at: now(), actor });
  if (ignored !== undefined) return err(ignored);
  const delivery = await engine.deliver(run.id, body, actor, key, ifVersion);
  return delivery.ignored === undefined ? ok(delivery) : err(delivery.ignored);
}

/** Whether the engine has applied this key to the run before. */
export async function wasApplied(store: Store, runId: string, key: string | undefined): Promise<boolean> {
  return key !== undefined && (await store.hasSignal(runId, key));
}
