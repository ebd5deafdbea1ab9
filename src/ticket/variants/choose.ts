// A person chooses one variant: the others become Canceled in their files, which ends their runs. Their work is kept.

import { err, ok, type Result } from "../../core/result.ts";
import type { PlannedTicket, TicketPlan } from "../../core/ticket/plan.ts";
import { CANCELED_STATUS } from "../../core/ticket/status.ts";
import { rivalsOf } from "../../core/ticket/variants.ts";
import type { TicketFolder } from "../file/folder.ts";

export type ChosenVariant = {
  readonly chosen: string;
  readonly canceled: readonly {
    readonly id: string;
    /** It stays, with all commits. */
    readonly branch: string;
    readonly from: string;
    /** Still open at the forge, if there is one. */
    readonly pullRequest: string | null;
  }[];
};

/** Choosing again cancels what is still open, so it can be repeated after a failure halfway. */
export async function chooseVariant(
  folder: TicketFolder,
  plan: TicketPlan,
  id: string,
): Promise<Result<ChosenVariant>> {
  const rivals = rivalsOf(id, plan);
  if (!rivals.ok) return rivals;
  const canceled: ChosenVariant["canceled"][number][] = [];
  for (const rival of rivals.value) {
    const written = await cancel(folder, rival);
    if (!written.ok) return err({ ...written.error, message: `${written.error.message}${already(canceled)}` });
    const { ticket, branch } = rival;
    canceled.push({ id: ticket.id, branch, from: written.value.before, pullRequest: ticket.prUrl });
  }
  return ok({ chosen: id, canceled });
}

function cancel(folder: TicketFolder, { ticket }: PlannedTicket) {
  // Whatever its run wrote meanwhile: a person does not want it any more.
  return folder.update(ticket, { status: CANCELED_STATUS, conflict: null });
}

function already(canceled: readonly { readonly id: string }[]): string {
  return canceled.length === 0 ? "" : `; canceled before that: ${canceled.map(({ id }) => id).join(", ")}`;
}
