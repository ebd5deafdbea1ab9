// The run that a person means by a ticket: its newest one, with the known state of its work.

import type { Run } from "../../core/run/run.ts";
import type { Store } from "../../store/store.ts";
import { type Landed, landedRecord } from "../../core/ticket/landed.ts";
import { type WaitingMerge, waitingMerge } from "../../core/run/waiting-merge.ts";
import { type Approved, approvedWork } from "./record.ts";

export type LandingRun = {
  readonly run: Run;
  readonly number: number;
  readonly waits: WaitingMerge | undefined;
  readonly landed: Landed | undefined;
  readonly approved: Approved | undefined;
};

type Reading = Pick<Store, "runsOf" | "loadRun" | "loadFlow" | "attempts" | "listRuns">;

/** Newest first; empty for an unknown ticket. */
export async function runsOfTicket(store: Reading, ticket: string): Promise<readonly LandingRun[]> {
  const found = await Promise.all((await store.runsOf(ticket)).map(({ id, number }) => landingRun(store, id, number)));
  return found.flatMap((each) => each ?? []);
}

/** Runs at landing, and runs that wait for their merge. */
export async function runsOnTheWay(store: Reading, limit: number): Promise<readonly LandingRun[]> {
  const found: LandingRun[] = [];
  for (const { id, number } of await store.listRuns({ status: "running", limit })) {
    const each = await landingRun(store, id, number);
    if (each === undefined) continue;
    if (each.waits !== undefined || (await isLanding(store, each.run))) found.push(each);
  }
  return found;
}

async function isLanding(store: Reading, run: Run): Promise<boolean> {
  const resolved = await store.loadFlow(run.flowHash);
  const builtins = resolved?.flow.stages.filter((stage) => stage.kind === "builtin" && stage.agent === "land") ?? [];
  return Object.values(run.tracks).some(
    (track) => (track.at === "ready" || track.at === "running") && builtins.some(({ id }) => id === track.stage),
  );
}

async function landingRun(store: Reading, runId: string, number: number): Promise<LandingRun | undefined> {
  const run = (await store.loadRun(runId))?.run;
  if (run === undefined) return undefined;
  const resolved = await store.loadFlow(run.flowHash);
  const attempts = await store.attempts(runId);
  return {
    run,
    number,
    waits: resolved === undefined ? undefined : waitingMerge(resolved, run),
    landed: landedRecord(attempts),
    approved: approvedWork(attempts),
  };
}
