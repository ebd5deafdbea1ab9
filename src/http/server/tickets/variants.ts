// The tickets of one group side by side, on the wire.

import type { z } from "zod";
import type { ticketSchema } from "../../contract/schemas/ticket.ts";
import type { PlannedTicket, TicketPlan } from "../../../core/ticket/plan.ts";
import { rivalsOf, ticketsOfGroup } from "../../../core/ticket/variants.ts";
import { compareVariants } from "../../../ticket/variants/compare.ts";
import type { ServerDeps } from "../deps.ts";
import type { TicketsNow } from "../project-tickets.ts";

type Variant = z.input<typeof ticketSchema>["variants"][number];

export async function variantsOf(
  deps: Pick<ServerDeps, "store" | "home">,
  { ticket }: PlannedTicket,
  { plan }: TicketsNow,
): Promise<Variant[]> {
  if (ticket.group === null) return [];
  const group = ticketsOfGroup(plan, ticket.group);
  if (group.length < 2) return [];
  const compared = await compareVariants(deps, group);
  return compared.map(({ verdicts, checks, ...rest }) => ({
    ...rest,
    verdicts: [...verdicts],
    checks: [...checks],
    choice: choiceOf(rest.id, plan),
  }));
}

/** The effect of choosing it on the others, by the rule that applies it. */
function choiceOf(id: string, plan: TicketPlan): Variant["choice"] {
  const rivals = rivalsOf(id, plan);
  if (!rivals.ok) return { cancels: [], why: `${rivals.error.message}.` };
  return { cancels: rivals.value.map(({ ticket }) => ticket.id), why: null };
}
