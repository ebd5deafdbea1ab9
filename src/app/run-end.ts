// Collects what is known about the work of a run that has ended: its attempts, the branch as it is now, and a later run that landed it.

import type { ResolvedFlow } from "../core/flow/agent.ts";
import { runFacts } from "../core/run/facts.ts";
import { isEnded, type Run } from "../core/run/run.ts";
import { type Landed, landedRecord } from "../core/ticket/landed.ts";
import { type RunEnd, runEnd } from "../core/view/run-end.ts";
import type { AttemptRecord, Store } from "../store/store.ts";

type Reading = Pick<Store, "runsOf" | "loadRun" | "attempts">;

export type EndLook = {
  readonly resolved: ResolvedFlow;
  readonly run: Run;
  readonly number: number;
  readonly attempts: readonly AttemptRecord[];
  /** The commit of a run's branch; null if it has none. */
  readonly commitOf: (run: Run) => Promise<string | null>;
};

export async function findRunEnd(store: Reading, look: EndLook): Promise<RunEnd | null> {
  const { run, attempts } = look;
  if (!isEnded(run) && run.status !== "stopped") return null;
  const landed = landedRecord(attempts) ?? (await landedLater(store, look));
  return runEnd({ ...look, landed, head: await look.commitOf(run) });
}

/** By a later run of the flow `land`, which a person started for this one. */
async function landedLater(store: Reading, { run, number }: EndLook): Promise<Landed | undefined> {
  const later = (await store.runsOf(run.subject.id)).filter((other) => other.number > number);
  for (const { id } of later) {
    const other = (await store.loadRun(id))?.run;
    if (other === undefined || runFacts(other).land.run !== run.id) continue;
    const landed = landedRecord(await store.attempts(id));
    if (landed !== undefined) return landed;
  }
  return undefined;
}

/** The open run of the flow `land` that a person started for this one. */
export async function openLanding(
  store: Pick<Store, "runsOf" | "loadRun">,
  { id, subject }: Run,
): Promise<{ readonly id: string; readonly number: number } | undefined> {
  for (const summary of await store.runsOf(subject.id)) {
    if (summary.status === "completed" || summary.status === "canceled") continue;
    const other = (await store.loadRun(summary.id))?.run;
    if (other !== undefined && runFacts(other).land.run === id) return { id: summary.id, number: summary.number };
  }
  return undefined;
}
