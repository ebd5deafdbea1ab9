// The run that a caller means: by its id, the beginning of its id, or its number.

import { err, ok, type Result } from "../core/result.ts";
import type { RunEvent } from "../core/run/event.ts";
import type { RunSummary, Store, StoredEvent, StoredRun } from "../store/store.ts";
import type { AppProblem } from "./problem.ts";

export type FoundRun = StoredRun & { readonly summary: RunSummary };

/** `12`, `#12`, `r0a1b…` or the beginning of an id that only one run has. */
export async function findRun(store: Store | undefined, reference: string): Promise<Result<FoundRun, AppProblem>> {
  const text = reference.trim();
  if (text === "" || text === "#")
    return err({ code: "run_missing", message: "Name a run: its number, its id or the beginning of it." });
  const matches = store === undefined ? [] : await matchesOf(store, text);
  const [summary, ...others] = matches;
  if (others.length > 0)
    return err({
      code: "run_ambiguous",
      message: `${text} could be ${matches.length} runs:`,
      hint: matches.map(({ id, number, subject }) => `#${number} ${id}  ${subject.title.slice(0, 60)}`).join("\n"),
    });
  const stored = summary === undefined ? undefined : await store?.loadRun(summary.id);
  if (summary === undefined || stored === undefined)
    return err({ code: "run_not_found", message: `There is no run ${text}.` });
  return ok({ ...stored, summary });
}

/** A number is exact; only ids may be cut short. */
async function matchesOf(store: Store, text: string): Promise<readonly RunSummary[]> {
  const number = /^#?([0-9]{1,10})$/u.exec(text)?.[1];
  if (number !== undefined) return (await store.findRuns(number)).filter((run) => run.number === Number(number));
  const found = await store.findRuns(text);
  const exact = found.filter(({ id }) => id === text);
  return exact.length > 0 ? exact : found;
}

const PAGE = 500;

/** The history of one run, page by page. */
export async function* eventsOf(store: Store, runId: string, after: number = 0): AsyncGenerator<StoredEvent> {
  let last = after;
  for (;;) {
    const page = await store.events({ after: last, runId, limit: PAGE });
    yield* page;
    last = page.at(-1)?.seq ?? last;
    if (page.length < PAGE) return;
  }
}

export async function allEvents(store: Store, runId: string): Promise<readonly RunEvent[]> {
  const all: RunEvent[] = [];
  for await (const { event } of eventsOf(store, runId)) all.push(event);
  return all;
}
