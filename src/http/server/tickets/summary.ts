// A ticket as a row: the state from its newest run, and the file's beside it. Without a run the file provides both.

import type { AnswerOf } from "../../contract/route.ts";
import type { ROUTES } from "../../contract/routes.ts";
import type { ResolvedFlow } from "../../../core/flow/agent.ts";
import type { Flow } from "../../../core/flow/flow.ts";
import { answersOf, openItems, type Run } from "../../../core/run/run.ts";
import { projectOf } from "../../../core/run/run-settings.ts";
import { findWork } from "../../../core/run/sequence.ts";
import type { PlannedTicket } from "../../../core/ticket/plan.ts";
import type { Store, SubjectRecord } from "../../../store/store.ts";
import { flowOf } from "../../../store/flow-of.ts";
import { lastActivity } from "../last-activity.ts";
import type { ServerDeps } from "../deps.ts";
import { counterRows } from "../../../core/run/counters.ts";
import { showRow } from "../views/run-row.ts";
import type { TicketsNow } from "../project-tickets.ts";
import type { Listed } from "./list.ts";
import { whyOf } from "../../../core/ticket/cannot-start.ts";
import { showFile } from "./show-file.ts";

export type TicketSummary = AnswerOf<typeof ROUTES.listTickets>["tickets"][number];

/** Tickets of one page often share a few flows: each is read once. */
export function createSummaries(
  deps: ServerDeps,
  now: TicketsNow | undefined,
): (listed: Listed) => Promise<TicketSummary> {
  const { store } = deps;
  const flows = new Map<string, Promise<ResolvedFlow>>();
  const refused = deps.tickets?.refused?.() ?? new Map();
  return async ({ file: planned, runs }) => {
    const file = planned === undefined || now === undefined ? null : showFile(planned, now, refused);
    if (runs === undefined) {
      if (planned === undefined) throw new Error("a ticket without file and run was listed");
      const { flow = "", project = "" } = deps.tickets ?? {};
      return { ...ofFile(planned, flow), project, why: whyOf(planned, refused), file };
    }
    const run = await loadRun(store, runs);
    const flow = flows.get(run.flowHash) ?? flowOf(store, run);
    flows.set(run.flowHash, flow);
    const summary = await ofRun(deps, runs, run, await flow);
    // The file has the person's latest title; a run keeps the one that it started with.
    return { ...summary, title: planned?.ticket.title ?? summary.title, ...wordOf(summary, planned), file };
  };
}

/** While a run is open its word is the newest; afterwards a person may have moved the file. */
function wordOf(
  { status, word, why }: Pick<TicketSummary, "status" | "word" | "why">,
  planned: PlannedTicket | undefined,
): Pick<TicketSummary, "word" | "why"> {
  const hasEnded = status === "completed" || status === "canceled";
  if (planned === undefined || !hasEnded || planned.ticket.status === word) return { word, why };
  return { word: planned.ticket.status, why: planned.why };
}

function ofFile({ ticket, why }: PlannedTicket, flow: string): Omit<TicketSummary, "file" | "project"> {
  return {
    id: ticket.id,
    title: ticket.title,
    runs: 0,
    newest: null,
    flow: ticket.flow ?? flow,
    state: null,
    status: null,
    word: ticket.status,
    stage: null,
    agent: null,
    paused: false,
    why,
    waits: [],
    loops: 0,
    counters: [],
    cost: { usd: 0, unknownUsd: 0 },
    createdAt: null,
    since: null,
    updatedAt: null,
    activeAt: null,
  };
}

async function ofRun(
  { home, now }: Pick<ServerDeps, "home" | "now">,
  { newest, runs, usd, unknownUsd }: SubjectRecord,
  run: Run,
  resolved: ResolvedFlow,
): Promise<Omit<TicketSummary, "file">> {
  const { flow } = resolved;
  const { id, number, status, word, stage, createdAt, updatedAt } = newest;
  const { state, paused, why, since } = showRow(newest, run, resolved, Date.parse(now()));
  return {
    id: newest.subject.id,
    title: newest.subject.title,
    runs,
    newest: { id, number },
    flow: newest.flow,
    state,
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
    counters: counterRows(flow, run).flatMap((row) => (row.loops > 0 ? [{ ...row }] : [])),
    cost: { usd, unknownUsd },
    createdAt,
    since,
    updatedAt,
    activeAt: await lastActivity(home, run, updatedAt),
    project: projectOf(run),
  };
}

function agentOf(flow: Flow, run: Run): string | null {
  for (const [track, state] of Object.entries(run.tracks)) {
    if (state.at === "running") return findWork(flow, run, track, state.stage)?.shownAgent ?? null;
  }
  return null;
}

export async function loadRun(store: Store, { newest: { id } }: SubjectRecord): Promise<Run> {
  const stored = await store.loadRun(id);
  if (stored === undefined) throw new Error(`run ${id} is listed but not stored`);
  return stored.run;
}
