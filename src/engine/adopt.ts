// A starting engine takes over the attempts that outlived the last one: processes of their own that work on, and reports that were
// finished while no engine lived. It knows them by the store alone, so an attempt of another store is never taken over.

import { attemptKey } from "../core/run/attempt-key.ts";
import { markerOf } from "../attempt/attempt-files.ts";
import type { CarrierIdentity, Carriers, ClaimIdentity } from "../attempt/carriers.ts";
import { attemptFacts } from "../core/attempt-facts.ts";
import type { JsonObject } from "../core/json.ts";
import type { ReportedUsage } from "../core/budget/budget.ts";
import type { Run } from "../core/run/run.ts";
import { type RunningAttempt, runningAttempts } from "../core/run/startable.ts";
import { type Processes, wholeMarker } from "../runner/runner.ts";
import type { Store } from "../store/store.ts";
import type { Adopted } from "./work-attempt.ts";

export type Adoption = {
  readonly store: Pick<Store, "activeRuns" | "attempts" | "loadRun">;
  readonly storeId: string;
  readonly carriers?: Carriers;
  /** Brings what another node left of the run; a failure is told when an attempt needs it. */
  readonly bring: (run: Run) => Promise<unknown>;
  readonly adopt: (run: Run, at: FoundAttempt["at"], found: Adopted) => Promise<void>;
  /** What an attempt that is gone left to be stored. */
  readonly note: (runId: string, stage: string, attempt: number, facts: JsonObject) => Promise<unknown>;
  /** The usage of an attempt that is gone. */
  readonly spent: (runId: string, stage: string, attempt: number, reported: ReportedUsage) => Promise<unknown>;
  readonly onError: (runId: string | null, error: unknown) => void;
};

/** Attempts that work on, or have reported; nothing of them may be ended or repeated. */
export type Kept = {
  readonly keys: ReadonlySet<string>;
  readonly runs: ReadonlySet<string>;
  readonly markers: ReadonlySet<string>;
  readonly channels: ReadonlySet<string>;
};

type FoundAttempt = {
  readonly run: Run;
  readonly at: RunningAttempt;
  readonly id: string;
  readonly found: Adopted;
};

const NOTHING: Kept = { keys: new Set(), runs: new Set(), markers: new Set(), channels: new Set() };

export async function adoptCarried(adoption: Adoption): Promise<Kept> {
  const { carriers, storeId, store, onError } = adoption;
  if (carriers === undefined) return NOTHING;
  const looked = (await store.activeRuns()).map((runId) =>
    foundIn(adoption, carriers, runId).catch((error: unknown) => {
      onError(runId, error);
      return [];
    }),
  );
  const found = (await Promise.all(looked)).flat();
  // Before anything starts: what works already has its slot and its branch.
  const adopted: FoundAttempt[] = [];
  for (const each of found) {
    try {
      await adoption.adopt(each.run, each.at, each.found);
      adopted.push(each);
    } catch (error) {
      onError(each.run.id, error);
    }
  }
  await carriers.endOthers(new Set(adopted.map(({ id }) => id)));
  return {
    keys: new Set(adopted.map(({ run, at }) => attemptKey(run.id, at.stage, at.attempt))),
    runs: new Set(adopted.map(({ run }) => run.id)),
    // One that has reported left nothing that may work on.
    markers: new Set(
      adopted.flatMap(({ run, at, found: { type } }) =>
        type === "living" ? [markerOf(storeId, run.id, at.stage, at.attempt)] : [],
      ),
    ),
    channels: new Set(adopted.flatMap(({ found: { channel } }) => (channel === null ? [] : [channel]))),
  };
}

export type Leftovers = {
  readonly store: Pick<Store, "activeRuns" | "attempts" | "loadRun">;
  readonly storeId: string;
  readonly carriers: Carriers;
  readonly processes: Processes;
};

/** For a process that holds the lock and performs nothing: ends what a dead engine left, except attempts that the next engine adopts. */
export async function endLeftovers({ store, storeId, carriers, processes }: Leftovers): Promise<void> {
  const ids = new Set<string>();
  const markers = new Set<string>();
  for (const runId of await store.activeRuns()) {
    const run = (await store.loadRun(runId))?.run;
    const running = run === undefined ? [] : runningAttempts(run);
    const records = running.length === 0 ? [] : await store.attempts(runId);
    for (const { stage, attempt } of running) {
      const record = records.find((each) => each.stage === stage && each.attempt === attempt);
      const carrier = record === undefined ? null : carriedBy(record);
      if (carrier === null) continue;
      ids.add(carrier.id);
      if (carriers.isAtWork(carrier, { runId, stage, attempt })) markers.add(markerOf(storeId, runId, stage, attempt));
      else if (record !== undefined) await endRecorded(processes, record);
    }
  }
  await carriers.endOthers(ids);
  for (const { marker } of processes.findMarked(`${storeId}/`))
    if (!markers.has(wholeMarker(marker))) await processes.killLeftovers({ marker });
}

function carriedBy(record: { readonly facts: JsonObject }): CarrierIdentity | ClaimIdentity | null {
  const { carrier, claim } = attemptFacts(record);
  return carrier ?? claim;
}

/** With everything in its cgroup, which no marker may lead to any more. */
async function endRecorded(processes: Processes, record: { readonly facts: JsonObject }): Promise<void> {
  const { process: identity } = attemptFacts(record);
  if (identity !== null) await processes.killLeftovers(identity);
}

async function foundIn(
  { store, note, spent, bring }: Adoption,
  carriers: Carriers,
  runId: string,
): Promise<readonly FoundAttempt[]> {
  const run = (await store.loadRun(runId))?.run;
  const running = run === undefined ? [] : runningAttempts(run);
  if (run === undefined || running.length === 0) return [];
  const records = await store.attempts(runId);
  await bring(run);
  const looked = running.map(async (at): Promise<readonly FoundAttempt[]> => {
    const record = records.find(({ stage, attempt }) => stage === at.stage && attempt === at.attempt);
    const carrier = record === undefined ? null : carriedBy(record);
    if (carrier === null) return [];
    const found = await carriers.find(carrier, { runId, stage: at.stage, attempt: at.attempt });
    if (found.type !== "gone") return [{ run, at, id: carrier.id, found }];
    for (const facts of found.notes) await note(runId, at.stage, at.attempt, facts);
    if (found.spent !== null) await spent(runId, at.stage, at.attempt, found.spent);
    found.forget();
    return [];
  });
  return (await Promise.all(looked)).flat();
}
