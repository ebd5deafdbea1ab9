// The run that a caller means, by id or by number, and the version that its open items have now.

import type { Refusal } from "../contract/problem.ts";
import type { RunEvent } from "../../core/run/event.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { Run } from "../../core/run/run.ts";
import type { RunSummary, Store, StoredRun } from "../../store/store.ts";

export type FoundRun = StoredRun & { readonly summary: RunSummary };

export async function findRun(store: Store, reference: string): Promise<Result<FoundRun, Refusal>> {
  const isNumber = /^[0-9]+$/.test(reference);
  const found = await store.findRuns(reference);
  const summary = found.find(({ id, number }) => (isNumber ? number === Number(reference) : id === reference));
  const stored = summary === undefined ? undefined : await store.loadRun(summary.id);
  if (summary === undefined || stored === undefined)
    return err({ code: "run_not_found", detail: `There is no run ${reference}.`, hint: "GET /api/runs lists them." });
  return ok({ ...stored, summary });
}

/** What a person has looked at who looks at an item now: the run's events up to here, and the commit its branch is at. */
export async function itemVersion(
  { commitOf }: { readonly commitOf: (run: Run) => Promise<string | null> },
  { run, version }: StoredRun,
): Promise<string> {
  const commit = await commitOf(run);
  return commit === null ? String(version) : `${version}-${commit.slice(0, 40)}`;
}

const PAGE = 500;

/** Everything that happened to a run, page by page. */
export async function allEvents(store: Store, runId: string): Promise<readonly RunEvent[]> {
  const all: RunEvent[] = [];
  for (let after = 0; ; ) {
    const page = await store.events({ runId, after, limit: PAGE });
    all.push(...page.map(({ event }) => event));
    const last = page.at(-1);
    if (page.length < PAGE || last === undefined) return all;
    after = last.seq;
  }
}
