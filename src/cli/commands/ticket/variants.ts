// `ticket compare GROUP` and `ticket choose ID`: the variants of a group side by side, and the decision for one of them.

import { ticketsOfGroup } from "../../../core/ticket/variants.ts";
import { chooseVariant } from "../../../ticket/variants/choose.ts";
import { type ComparedVariant, compareVariants } from "../../../ticket/variants/compare.ts";
import { CliError, EXIT, problemError } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";
import { requireOperator } from "../../operator.ts";
import { printJson, printTable } from "../../terminal/output.ts";
import { plainText } from "../../terminal/plain-text.ts";
import { withReader } from "../../reader.ts";
import { didYouMean } from "../../../core/check/suggest.ts";
import { findTicket, readTickets } from "./read-tickets.ts";

export async function ticketCompare(io: Io, group: string): Promise<number> {
  const { plan, scan } = await readTickets(io);
  const tickets = ticketsOfGroup(plan, group);
  if (tickets.length === 0) {
    const known = new Set(scan.tickets.flatMap(({ group: each }) => each ?? []));
    throw new CliError(
      "group_not_found",
      `No ticket has the group ${JSON.stringify(group)}.`,
      didYouMean(group, known, "groups"),
    );
  }
  const variants = await withReader(io, (store) =>
    compareVariants({ store: store ?? NO_RUNS, home: io.home }, tickets),
  );
  if (io.json) printJson(io, { group, variants });
  else if (io.quiet) for (const { id } of variants) io.out(id);
  else {
    printTable(io, variants.map(rowOf));
    io.err(`  passrail ticket choose ID   keeps one and cancels the others`);
  }
  return EXIT.ok;
}

/** Before the first run there is no store. */
const NO_RUNS = { listSubjects: async () => [], attempts: async () => [] };

function rowOf({ id, hint, title, word, branch, changes, checks, verdicts, cost }: ComparedVariant) {
  const stat = changes === null ? "no changes" : `${changes.files} files +${changes.added} -${changes.removed}`;
  const usd = `$${cost.usd.toFixed(2)}${cost.unknownUsd === 0 ? "" : ` and ${cost.unknownUsd} attempts not reported`}`;
  return [
    { name: "id", value: id },
    { name: "variant", value: (hint ?? title).slice(0, 60) },
    { name: "status", value: word },
    { name: "branch", value: branch },
    { name: "changes", value: stat },
    { name: "checks", value: checks.map(({ name, state }) => `${name}: ${state}`).join(", ") || "no checks" },
    { name: "verdicts", value: verdicts.map(({ stage, verdict }) => `${stage}: ${verdict}`).join(", ") || "none" },
    { name: "cost", value: usd },
  ];
}

export async function ticketChoose(io: Io, typed: string): Promise<number> {
  requireOperator(io, "ticket choose");
  const tickets = await readTickets(io);
  const { id } = findTicket(tickets, typed);
  const chosen = await chooseVariant(tickets.folder, tickets.plan, id);
  if (!chosen.ok) throw problemError(chosen.error);
  const { canceled } = chosen.value;
  if (io.json) printJson(io, chosen.value);
  else if (!io.quiet) {
    io.out(canceled.length === 0 ? `${id} is chosen; no other variant is open.` : `${id} is chosen.`);
    for (const { id: other, from, branch, pullRequest } of canceled) {
      const open = pullRequest === null ? "" : ` Its pull request stays open: ${pullRequest}`;
      io.out(plainText(`${other}: ${from} → Canceled. Its branch ${branch} stays.${open}`));
    }
  }
  return EXIT.ok;
}
