// Changes tickets over the API: a new file, or keys of an existing one. Refuses at once, before writing, everything that the folder's
// reader would refuse later.

import type { Refusal } from "../../contract/problem.ts";
import type { BodyOf } from "../../contract/route.ts";
import type { ROUTES } from "../../contract/routes.ts";
import { type RunOfTicket, whyNot } from "../../contract/ticket-moves.ts";
import { nearest } from "../../../core/check/suggest.ts";
import { err, ok, type Problem, type Result } from "../../../core/result.ts";
import { dependencyCycles, formatCycle } from "../../../core/ticket/graph.ts";
import type { Ticket } from "../../../core/ticket/ticket.ts";
import type { KnownTickets, ProjectTickets, TicketsNow } from "../project-tickets.ts";
import { optional } from "../../../core/optional.ts";

type NewTicket = BodyOf<typeof ROUTES.createTicket>;
type Changes = BodyOf<typeof ROUTES.editTicket>;

/** `key`: the same key gives the same ticket, however often the request is repeated. */
export async function createTicket(
  { known, repo: own }: ProjectTickets,
  body: NewTicket,
  key: string,
): Promise<Result<{ id: string; path: string }, Refusal>> {
  const { title, group = "", variantHint = "", repo, priority, status } = body;
  const unknown = unknownDependency(body.dependsOn, await known.now());
  if (unknown !== undefined) return err(unknown);
  const created = await (await known.folder()).create(
    [
      {
        title: title.trim(),
        description: body.body,
        group,
        variantHint,
        // The default is the project itself: the ticket is about the repository that contains it.
        repo: repo ?? own,
        priority: priority ?? null,
        source: null,
        dependsOn: [...new Set(body.dependsOn)],
      },
    ],
    { key, status },
  );
  if (!created.ok) return err(refused(created.error));
  known.wrote();
  const [path = ""] = created.value;
  return ok({ id: path.slice(path.lastIndexOf("/") + 1, -".md".length), path });
}

/** `seen`: the version of the file that the person saw; "*" or undefined for any. `run`: the state of its newest run. */
export async function editTicket(
  known: KnownTickets,
  ticket: Ticket,
  changes: Changes,
  { seen, run }: { readonly seen: string | undefined; readonly run: RunOfTicket },
): Promise<Result<{ id: string; version: string }, Refusal>> {
  const { id, hash } = ticket;
  if (seen !== undefined && seen !== "*" && seen !== hash)
    return err({
      code: "ticket_conflict",
      detail: `${id} was changed since it was looked at; it says "${ticket.status}" now.`,
      hint: "Look at it again, then decide.",
      current: hash,
    });
  const move =
    changes.status === undefined || changes.status === ticket.status ? null : whyNot(id, changes.status, run);
  if (move !== null)
    return err({
      code: "ticket_refused",
      detail: `${id} cannot be moved from "${ticket.status}" to "${changes.status}": ${move}.`,
      pointer: "/status",
    });
  const wrong =
    changes.dependsOn === undefined ? undefined : wrongDependencies(id, changes.dependsOn, await known.now());
  if (wrong !== undefined) return err(wrong);
  const { title, dependsOn, group, priority, repo, status } = changes;
  const written = await (await known.folder()).update(
    ticket,
    {
      ...(title === undefined ? {} : { title: title.trim() }),
      ...(dependsOn === undefined ? {} : { dependsOn: [...new Set(dependsOn)] }),
      ...optional({ group, priority, repo }),
      // Moving a ticket is a decision, so it resolves a conflict with the run.
      ...(status === undefined ? {} : { status, conflict: null }),
    },
    { status: ticket.status },
  );
  known.wrote();
  return written.ok ? ok({ id, version: written.value.hash }) : err(refused(written.error));
}

function wrongDependencies(id: string, dependsOn: readonly string[], now: TicketsNow): Refusal | undefined {
  const unknown = unknownDependency(dependsOn, now);
  if (unknown !== undefined) return unknown;
  const nodes = now.scan.tickets.map((each) => (each.id === id ? { id, dependsOn } : each));
  const circle = dependencyCycles(nodes).get(id);
  if (circle === undefined) return undefined;
  return {
    code: "ticket_refused",
    detail: `Tickets would wait for each other in a circle: ${formatCycle(circle)}.`,
    pointer: "/dependsOn",
  };
}

function unknownDependency(dependsOn: readonly string[], { plan }: TicketsNow): Refusal | undefined {
  const unknown = dependsOn.find((id) => !plan.tickets.has(id));
  if (unknown === undefined) return undefined;
  const near = nearest(unknown, [...plan.tickets.keys()]);
  return {
    code: "ticket_refused",
    detail: `There is no ticket ${JSON.stringify(unknown)} to depend on.`,
    pointer: "/dependsOn",
    ...(near === undefined ? {} : { hint: `Did you mean ${near}?` }),
  };
}

function refused({ code, message, hint }: Problem): Refusal {
  return {
    code: code === "ticket_conflict" ? "ticket_conflict" : "ticket_refused",
    detail: message,
    ...optional({ hint }),
  };
}
