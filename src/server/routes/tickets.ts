// Tickets as the runs show them. A list costs one page of runs, however many there are.

import type { Refusal } from "../../api/problem.ts";
import type { AnswerOf } from "../../api/route.ts";
import { ROUTES } from "../../api/routes.ts";
import type { Flow } from "../../core/flow.ts";
import { featureRecord } from "../../core/projections/feature.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { answersOf, openItems, type Run } from "../../core/run.ts";
import { findWork } from "../../core/sequence.ts";
import type { RunSummary, Store, SubjectRecord } from "../../store/store.ts";
import { allEvents, flowOf } from "../find-run.ts";
import { lastActivity } from "../last-activity.ts";
import type { Mount } from "../mount.ts";
import type { ServerParts } from "../parts.ts";
import { showCounters } from "../views/run.ts";
import { showRow } from "../views/run-row.ts";

const RUNS_AT_MOST = 200;

export function mountTickets(mount: Mount, { store, home }: ServerParts): void {
  mount.json(ROUTES.listTickets, async ({ query: { flow, open, limit, before } }) => {
    const found = await store.listSubjects({
      limit: limit + 1,
      ...(flow === undefined ? {} : { flow }),
      ...(open === undefined ? {} : { open: open === "true" }),
      ...(before === undefined ? {} : { before }),
    });
    const page = found.slice(0, limit);
    const flows = new Map<string, Promise<Flow>>();
    const tickets = await Promise.all(
      page.map(async (subject) => {
        const run = await load(store, subject.newest);
        const resolved = flows.get(run.flowHash) ?? flowOf(store, run).then((each) => each.flow);
        flows.set(run.flowHash, resolved);
        return summaryOf(home, subject, run, await resolved);
      }),
    );
    return ok({ tickets, next: found.length > limit ? (page.at(-1)?.newest.number ?? null) : null });
  });

  mount.json(ROUTES.showTicket, ({ params }) => showTicket(store, home, params.ticket));
}

type Ticket = AnswerOf<typeof ROUTES.showTicket>;
type TicketSummary = AnswerOf<typeof ROUTES.listTickets>["tickets"][number];

async function showTicket(store: Store, home: string, id: string): Promise<Result<Ticket, Refusal>> {
  const [subject] = await store.listSubjects({ id, limit: 1 });
  if (subject === undefined)
    return err({
      code: "ticket_not_found",
      detail: `No run was ever made of a ticket ${JSON.stringify(id)}.`,
      hint: "GET /api/tickets lists them.",
    });
  const run = await load(store, subject.newest);
  const [{ flow }, events, history] = await Promise.all([
    flowOf(store, run),
    allEvents(store, run.id),
    store.listRuns({ subject: id, limit: RUNS_AT_MOST }),
  ]);
  const { pipeline_log, ...record } = featureRecord(flow, events, run);
  return ok({
    ...(await summaryOf(home, subject, run, flow)),
    body: run.subject.body,
    feature: {
      ...record,
      pipeline_log: pipeline_log.map(({ issues, ...entry }) => ({
        ...entry,
        ...(issues === undefined ? {} : { issues: [...issues] }),
      })),
    },
    history: history.map((each) => ({ ...each })),
  });
}

async function summaryOf(
  home: string,
  { newest, runs, usd, unknownUsd }: SubjectRecord,
  run: Run,
  flow: Flow,
): Promise<TicketSummary> {
  const { id, number, status, word, stage, createdAt, updatedAt } = newest;
  const { paused, why, since } = showRow(newest, run, flow);
  return {
    id: newest.subject.id,
    title: newest.subject.title,
    runs,
    newest: { id, number },
    flow: newest.flow,
    status,
    word,
    stage,
    agent: agentOf(flow, run),
    paused,
    why,
    waits: openItems(run).map((item) => ({
      id: `${run.id}.${item.number}`,
      kind: item.kind,
      stage: item.stage,
      who: item.who,
      answers: [...answersOf(item)],
    })),
    loops: Object.values(run.counters).reduce((sum, { loops }) => sum + loops, 0),
    counters: showCounters(flow, run).filter(({ loops }) => loops > 0),
    cost: { usd, unknownUsd },
    createdAt,
    since,
    updatedAt,
    activeAt: await lastActivity(home, run, updatedAt),
  };
}

function agentOf(flow: Flow, run: Run): string | null {
  for (const [track, state] of Object.entries(run.tracks)) {
    if (state.at === "running") return findWork(flow, run, track, state.stage)?.shownAgent ?? null;
  }
  return null;
}

async function load(store: Store, { id }: RunSummary): Promise<Run> {
  const stored = await store.loadRun(id);
  if (stored === undefined) throw new Error(`run ${id} is listed but not stored`);
  return stored.run;
}
