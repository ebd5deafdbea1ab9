// Collects the report of a night from the store, the ticket files and the inbox. It is computed anew each time, so a restart does not change it.

import type { Run } from "../core/run/run.ts";
import { cannotStart, type RefusedStarts } from "../core/ticket/cannot-start.ts";
import { landedRecord } from "../core/ticket/landed.ts";
import type { TicketPlan } from "../core/ticket/plan.ts";
import type { TicketScan } from "../core/ticket/ticket.ts";
import { groupDayBudgets } from "../core/view/day-budget.ts";
import { runEnd, type RunEnd } from "../core/view/run-end.ts";
import { type EndedRow, type NightReport, type NightReportItem, nightReportOf } from "../core/view/night-report.ts";
import { flowOf } from "../store/flow-of.ts";
import type { RunSummary, SpendingRow, Store } from "../store/store.ts";
import type { LooseEnds } from "./loose-ends.ts";
import { findRunEnd } from "./run-end.ts";

export type NightReportOptions = {
  /** Absent before the first run. */
  readonly store?: Pick<
    Store,
    "attempts" | "findRuns" | "inbox" | "listRuns" | "loadFlow" | "loadRun" | "runsOf" | "spending"
  >;
  readonly looseEnds: LooseEnds;
  readonly tickets: () => Promise<{ readonly scan: TicketScan; readonly plan: TicketPlan } | undefined>;
  /** Starts that the process which picks tickets was refused. */
  readonly refused?: () => RefusedStarts;
  readonly commitOf: (run: Run) => Promise<string | null>;
  readonly now: () => string;
};

type Reading = NonNullable<NightReportOptions["store"]>;

/** The newest ended runs of each status that are looked at. */
const LOOKED_AT_MOST = 500;

/** `since`: ISO 8601. Runs that ended and money spent since then; the rest of the report is the present state. */
export async function findNightReport(options: NightReportOptions, since: string): Promise<NightReport> {
  const { looseEnds, now, refused, store, tickets } = options;
  const until = now();
  const [found, { ends }] = [await tickets(), await looseEnds()];
  const rows = store === undefined ? [] : await store.spending({ by: "run", since });
  const ended = store === undefined ? { rows: [], isCut: false } : await endedSince(store, options, since);
  return nightReportOf({
    since,
    until,
    isCut: ended.isCut,
    ended: ended.rows,
    items: store === undefined ? [] : await openItemsOf(store),
    ends,
    cannotStart: found === undefined ? [] : cannotStart(found.scan, found.plan, refused?.()),
    running: store === undefined ? [] : await runningOf(store),
    plan: found?.plan ?? null,
    spent: {
      attempts: sumOf(rows, "attempts"),
      usd: sumOf(rows, "usd"),
      unknownUsd: sumOf(rows, "unknownUsd"),
    },
  });
}

async function openItemsOf(store: Reading): Promise<readonly NightReportItem[]> {
  const found = groupDayBudgets(await store.inbox()).map(
    async ({ runId, item, others }): Promise<NightReportItem[]> => {
      const run = (await store.loadRun(runId))?.run;
      const number = (await store.findRuns(runId)).find(({ id }) => id === runId)?.number ?? 0;
      return run === undefined ? [] : [{ item, others, run, number }];
    },
  );
  return (await Promise.all(found)).flat();
}

async function runningOf(store: Reading) {
  const page = await store.listRuns({ status: "running", limit: LOOKED_AT_MOST });
  const runs = page.map(async ({ id, number }) => {
    const run = (await store.loadRun(id))?.run;
    return run === undefined ? [] : [{ run, number }];
  });
  return (await Promise.all(runs)).flat();
}

async function endedSince(store: Reading, options: NightReportOptions, since: string) {
  const pages = await Promise.all(
    (["completed", "canceled"] as const).map((status) => store.listRuns({ status, limit: LOOKED_AT_MOST })),
  );
  const recent = pages.flat().filter(({ updatedAt }) => updatedAt >= since);
  const rows = (await Promise.all(recent.map((summary) => endedRow(store, options, summary)))).flat();
  return {
    rows: rows.filter(({ at }) => at >= since).toSorted((a, b) => (a.at < b.at ? -1 : 1)),
    isCut: pages.some((page) => page.length === LOOKED_AT_MOST && (page.at(-1)?.updatedAt ?? "") >= since),
  };
}

async function endedRow(
  store: Reading,
  options: NightReportOptions,
  { id, number }: RunSummary,
): Promise<readonly EndedRow[]> {
  const run = (await store.loadRun(id))?.run;
  if (run === undefined || (run.status !== "completed" && run.status !== "canceled")) return [];
  const end = run.status === "completed" ? await endOf(store, options, run, number) : null;
  // Its commits wait for a person: the inbox has it.
  if (end?.state === "kept") return [];
  const spent = await store.spending({ by: "run", runId: id });
  const [meteredAttempts, silent] = [sumOf(spent, "attempts"), sumOf(spent, "unknownUsd")];
  return [
    {
      subject: run.subject.id,
      title: run.subject.title,
      run: { id, number },
      text: run.status === "canceled" ? `Canceled: ${run.reason}` : (end?.text ?? ""),
      commands: end?.commands.map(({ command }) => command) ?? [],
      at: run.endedAt,
      state: end?.state ?? "canceled",
      commit: end?.landedAs ?? end?.tip ?? null,
      target: end?.target ?? null,
      usd: meteredAttempts > 0 && silent === 0 ? sumOf(spent, "usd") : null,
      meteredAttempts,
    },
  ];
}

/** The branch is looked at only where the record does not say that the work left. */
async function endOf(
  store: Reading,
  { commitOf }: NightReportOptions,
  run: Run,
  number: number,
): Promise<RunEnd | null> {
  const [resolved, attempts] = await Promise.all([flowOf(store, run), store.attempts(run.id)]);
  const landed = landedRecord(attempts);
  const work = { resolved, run, number, attempts };
  return landed === undefined ? findRunEnd(store, { ...work, commitOf }) : runEnd({ ...work, landed });
}

function sumOf(rows: readonly SpendingRow[], key: "attempts" | "unknownUsd" | "usd"): number {
  return rows.reduce((sum, row) => sum + row[key], 0);
}
