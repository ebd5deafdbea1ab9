// One ticket with all its facts: its current file, its place among the others, its runs.

import type { Refusal } from "../../contract/problem.ts";
import type { AnswerOf } from "../../contract/route.ts";
import type { ROUTES } from "../../contract/routes.ts";
import { featureRecord } from "../../../core/view/feature.ts";
import { openItems } from "../../../core/run/run.ts";
import { err, ok, type Result } from "../../../core/result.ts";
import { landedRecord } from "../../../core/ticket/landed.ts";
import { withRefused } from "../../../core/ticket/cannot-start.ts";
import { explainTicket, type PlannedTicket } from "../../../core/ticket/plan.ts";
import type { AttemptRecord, RunSummary, Store, SubjectRecord } from "../../../store/store.ts";
import { allEvents } from "../../../app/find-run.ts";
import { flowOf } from "../../../store/flow-of.ts";
import type { ServerDeps } from "../deps.ts";
import { neighboursOf } from "./neighbours.ts";
import { runsOfTicket } from "./own-runs.ts";
import { createSummaries, loadRun } from "./summary.ts";
import { variantsOf } from "./variants.ts";

type Ticket = AnswerOf<typeof ROUTES.showTicket>;

const RUNS_AT_MOST = 200;

export async function showTicket(deps: ServerDeps, id: string): Promise<Result<Ticket, Refusal>> {
  const { store, tickets } = deps;
  const now = await tickets?.known.now();
  const planned = now?.plan.tickets.get(id);
  const runs = await runsOfTicket(deps, id, planned);
  if (runs === undefined && planned === undefined) return err(notFound(id));
  const attempts = runs === undefined ? [] : await store.attempts(runs.newest.id);
  return ok({
    ...(await createSummaries(deps, now)({ file: planned, runs })),
    frontMatter: await frontMatterOf(deps, planned),
    ...(await runsOf(store, id, runs, planned)),
    explain:
      now === undefined || planned === undefined
        ? []
        : [...explainTicket(id, now.scan, withRefused(now.plan, tickets?.refused?.() ?? new Map()))],
    variants: now === undefined || planned === undefined ? [] : await variantsOf(deps, planned, now),
    graph: now === undefined || planned === undefined ? ALONE : neighboursOf(id, now.plan),
    landed: landedOf(attempts),
    pullRequest: webAddress(planned?.ticket.prUrl ?? null),
  });
}

function landedOf(attempts: readonly AttemptRecord[]): Ticket["landed"] {
  const landed = landedRecord(attempts);
  if (landed === undefined) return null;
  const { commit, branch, target, how } = landed;
  return { commit, branch, target, how };
}

const ALONE: Ticket["graph"] = { nodes: [], edges: [], isCut: false };

function notFound(id: string): Refusal {
  return {
    code: "ticket_not_found",
    detail: `There is no ticket ${JSON.stringify(id)}: neither a file nor a run of it.`,
    hint: "GET /api/tickets lists them.",
  };
}

const HEAD_AT_MOST = 64 * 1024;

/** Reads the head again: before a change a person must see the file itself, not the cached one. */
async function frontMatterOf({ tickets }: ServerDeps, planned: PlannedTicket | undefined): Promise<string | null> {
  if (tickets === undefined || planned === undefined) return null;
  const text = await (await tickets.known.folder()).text(planned.ticket);
  return text.ok ? headOf(text.value) : null;
}

/** Between the first two lines of dashes. */
function headOf(text: string): string | null {
  const lines = text.slice(0, HEAD_AT_MOST).split(/\r?\n/u);
  const end = lines.findIndex((line, at) => at > 0 && line.trimEnd() === "---");
  return end === -1 ? null : lines.slice(1, end).join("\n");
}

async function runsOf(
  store: Store,
  id: string,
  runs: SubjectRecord | undefined,
  planned: PlannedTicket | undefined,
): Promise<Pick<Ticket, "body" | "feature" | "history">> {
  if (runs === undefined) return { body: planned?.ticket.description ?? "", feature: null, history: [] };
  const run = await loadRun(store, runs);
  const [{ flow }, events, history] = await Promise.all([
    flowOf(store, run),
    allEvents(store, run.id),
    store.listRuns({ subject: id, limit: RUNS_AT_MOST }),
  ]);
  const { pipeline_log, ...record } = featureRecord(flow, events, run);
  return {
    body: planned?.ticket.description ?? run.subject.body,
    feature: {
      ...record,
      pipeline_log: pipeline_log.map(({ issues, ...entry }) => ({
        ...entry,
        ...(issues === undefined ? {} : { issues: [...issues] }),
      })),
    },
    history: await Promise.all(history.map(async (each) => ({ ...each, waitsFor: await waitsForOf(store, each) }))),
  };
}

async function waitsForOf(store: Store, { id, status }: RunSummary): Promise<Ticket["history"][number]["waitsFor"]> {
  if (status !== "waiting") return [];
  const stored = await store.loadRun(id);
  return stored === undefined ? [] : openItems(stored.run).map(({ kind }) => kind);
}

/** Any author may write this field: accept only a web address. */
function webAddress(text: string | null): string | null {
  return text !== null && /^https?:\/\/[^\s\p{C}"<>]{1,500}$/u.test(text) ? text : null;
}
