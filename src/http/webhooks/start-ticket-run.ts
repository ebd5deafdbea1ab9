// A delivery that brings a ticket starts its run. The same ticket from the same source has one run, however often it is sent.

import { createHash } from "node:crypto";
import { runIdOf } from "../../app/run-id.ts";
import type { UseCases } from "../../app/use-cases.ts";
import { optional } from "../../core/optional.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { Store } from "../../store/store.ts";
import type { Refusal } from "../contract/problem.ts";
import { refusalOf, startRefusal } from "../server/refusal.ts";
import { carriedOut, type CarriedOut, senderOf } from "./carried-out.ts";
import type { TicketWord } from "./mapping.ts";
import type { WebhookSource } from "./source.ts";

export async function startTicketRun(
  { app, store }: { readonly app: UseCases; readonly store: Store },
  source: WebhookSource,
  deliveryId: string,
  ticket: TicketWord,
): Promise<Result<CarriedOut, Refusal>> {
  const { flow, author, origin, title, body } = ticket;
  const key = createHash("sha256")
    .update(`webhook ticket\n${source.name}\n${origin ?? deliveryId}`)
    .digest("hex");
  const known = await store.loadRun(runIdOf(key));
  if (known !== undefined) return ok(carriedOut("already_done", "this ticket has its run", known.run));
  const subject = { id: ticket.id ?? `${source.name}-${key.slice(0, 8)}`, title, body };
  const facts = { webhook: { source: source.name, author, origin } };
  const plan = await app.planRun({ flow, subject, input: [], facts, key });
  if (!plan.ok) return err(refused(flow, plan.error));
  // No agent reads a stranger's text before a person has seen it.
  const [first] = plan.value.resolved.flow.stages;
  const isGated = first?.kind === "gate" && first.when === undefined;
  if (!isGated && !source.authors.some((known) => known.toLowerCase() === author?.toLowerCase()))
    return ok({
      status: 202,
      code: "ignored_event",
      detail: `${flow} does not begin with a gate, and the author is not on the source's list`,
    });
  const started = await app.startRun(plan.value, senderOf(source));
  if (!started.ok) return err(refusalOf(started.error));
  const code = started.value.started ? "accepted" : "already_done";
  return ok(carriedOut(code, `${subject.id} is run with ${flow}`, started.value.run));
}

/** The operator named the flow, not the sender: a problem of the flow is no fault of the delivery. */
function refused(flow: string, problem: Parameters<typeof startRefusal>[1]): Refusal {
  const refusal = startRefusal(flow, problem);
  return refusal.code === "unknown_flow"
    ? { code: "flow_invalid", detail: refusal.detail, ...optional({ hint: refusal.hint }) }
    : refusal;
}
