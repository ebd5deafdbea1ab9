// Tickets from their files and their runs. A list costs one page of runs, however many exist; files are kept in memory.

import { createHash } from "node:crypto";
import type { Refusal } from "../../contract/problem.ts";
import type { AnswerOf } from "../../contract/route.ts";
import { ROUTES } from "../../contract/routes.ts";
import { runOfTicket } from "../../contract/ticket-moves.ts";
import { err, ok, type Problem, type Result } from "../../../core/result.ts";
import { cannotStart } from "../../../core/ticket/cannot-start.ts";
import type { TicketProblem } from "../../../core/ticket/ticket.ts";
import { chooseVariant } from "../../../ticket/variants/choose.ts";
import { actorOf } from "../actor.ts";
import { findRun } from "../find-run.ts";
import type { MountRoute } from "../mount.ts";
import type { ServerDeps } from "../deps.ts";
import { listTickets } from "../tickets/list.ts";
import { runsOfTicket } from "../tickets/own-runs.ts";
import { showProblem } from "../tickets/show-file.ts";
import { showTicket } from "../tickets/show-ticket.ts";
import { createSummaries } from "../tickets/summary.ts";
import { createTicket, editTicket } from "../tickets/write.ts";
import { optional } from "../../../core/optional.ts";

const PROBLEMS_AT_MOST = 500;

export function mountTickets(mount: MountRoute, deps: ServerDeps): void {
  const { store, tickets } = deps;

  mount.json(ROUTES.listTickets, async ({ query }) => {
    const now = await tickets?.known.now();
    const { rows, next } = await listTickets({ store, tickets, now }, query);
    const summarize = createSummaries(deps, now);
    return ok({ tickets: await Promise.all(rows.map(summarize)), next });
  });

  mount.json(ROUTES.ticketProblems, async () => ok(await problemsOf(deps)));

  mount.json(ROUTES.showTicket, ({ params }) => showTicket(deps, params.ticket));

  mount.json(ROUTES.createTicket, async ({ body, key, requestId }) => {
    if (tickets === undefined) return err(NO_FOLDER);
    return createTicket(tickets, body, `api-${digest(key ?? requestId)}`);
  });

  mount.json(ROUTES.editTicket, async ({ params, body, ifMatch }) => {
    const planned = (await tickets?.known.fresh())?.plan.tickets.get(params.ticket);
    if (tickets === undefined || planned === undefined) return noFile(params.ticket);
    const runs = await runsOfTicket(deps, params.ticket, planned);
    const run = runOfTicket(runs?.newest.status ?? null);
    return editTicket(tickets.known, planned.ticket, body, { seen: ifMatch, run });
  });

  mount.json(ROUTES.chooseTicket, async ({ params }) => {
    if (tickets === undefined) return err(NO_FOLDER);
    const { plan } = await tickets.known.fresh();
    if (!plan.tickets.has(params.ticket)) return noFile(params.ticket);
    const chosen = await chooseVariant(await tickets.known.folder(), plan, params.ticket);
    tickets.known.wrote();
    if (!chosen.ok) return err({ code: "ticket_refused", detail: `${chosen.error.message}.` });
    return ok({ chosen: chosen.value.chosen, canceled: chosen.value.canceled.map((each) => ({ ...each })) });
  });

  mount.json(ROUTES.startTicket, async ({ params, principal }) => {
    const planned = (await tickets?.known.fresh())?.plan.tickets.get(params.ticket);
    if (tickets?.start === undefined || planned === undefined) return noFile(params.ticket);
    if (planned.state !== "eligible" && planned.state !== "working")
      return err({ code: "ticket_refused", detail: `${params.ticket} cannot start: ${planned.why}.` });
    const started = await tickets.start(planned, actorOf(principal));
    if (!started.ok) {
      const { message, hint } = started.error;
      return err({ code: "run_refused", detail: message, ...optional({ hint }) });
    }
    const found = await findRun(store, started.value.run.id);
    return found.ok ? ok({ run: found.value.summary, started: started.value.started }) : found;
  });
}

async function problemsOf({ tickets }: ServerDeps): Promise<AnswerOf<typeof ROUTES.ticketProblems>> {
  if (tickets === undefined) return { folder: null, tickets: 0, problems: [], cannotStart: [], isCut: false };
  const { scan, plan } = await tickets.known.now();
  const problems = [...(tickets.cannotLeave?.() ?? []).map(accessProblem), ...scan.problems];
  return {
    folder: tickets.path,
    tickets: scan.tickets.length,
    problems: problems.slice(0, PROBLEMS_AT_MOST).map(showProblem),
    cannotStart: cannotStart(scan, plan, tickets.refused?.())
      .slice(0, PROBLEMS_AT_MOST)
      .map((each) => ({ ...each })),
    isCut: problems.length > PROBLEMS_AT_MOST,
  };
}

/** It keeps every ticket from starting whose work would leave that way. */
function accessProblem({ code, message, hint }: Problem): TicketProblem {
  const text = hint === undefined ? message : `${message} ${hint}`;
  return { code, message: `Finished work could not leave: ${text}`, severity: "refused", path: "passrail.yaml" };
}

const NO_FOLDER: Refusal = { code: "no_ticket_folder", detail: "This server looks after no folder of tickets." };

function noFile(id: string): Result<never, Refusal> {
  return err({
    code: "ticket_not_found",
    detail: `There is no ticket file ${JSON.stringify(id)} that can be read.`,
    hint: "GET /api/tickets/problems lists the files that cannot.",
  });
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 32);
}
