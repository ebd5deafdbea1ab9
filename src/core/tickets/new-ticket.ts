// The list of tickets that an intake agent wrote, as data, and the file that each becomes. References between its own tickets
// (`#1`) are turned into ids here, because no agent can know the numbers.

import { z } from "zod";
import { err, ok, type Result } from "../result.ts";

const ticketSchema = z.object({
  title: z.string().trim().min(1).max(200),
  description: z
    .string()
    .max(64 * 1024)
    .default(""),
  repo: z.string().trim().default("TBD"),
  group: z.string().trim().default(""),
  variantHint: z.string().trim().max(200).default(""),
  dependsOn: z.union([z.array(z.union([z.string(), z.number()])), z.string()]).nullish(),
});

export type NewTicket = {
  readonly title: string;
  readonly description: string;
  readonly repo: string;
  readonly group: string;
  readonly variantHint: string;
  /** Positions within the list, from 0. */
  readonly dependsOn: readonly number[];
};

const MAX_TICKETS = 50;

export function readTicketList(value: unknown): Result<readonly NewTicket[]> {
  const list = z.array(ticketSchema).min(1).max(MAX_TICKETS).safeParse(value);
  if (!list.success)
    return err({
      code: "tickets_invalid",
      message: `the list of tickets is not valid: ${z.prettifyError(list.error)}`,
    });
  const tickets: NewTicket[] = [];
  for (const [index, ticket] of list.data.entries()) {
    const references = typeof ticket.dependsOn === "string" ? [ticket.dependsOn] : (ticket.dependsOn ?? []);
    const positions = references.map((reference) => positionOf(String(reference)));
    const bad = references.find((_, at) => !isEarlierPosition(positions[at], index, list.data.length));
    if (bad !== undefined)
      return err({
        code: "unknown_dependency",
        message: `ticket ${index + 1} depends on "${bad}", which is not another ticket of this list (#1 … #${list.data.length})`,
      });
    tickets.push({
      ...ticket,
      repo: ticket.repo === "" ? "TBD" : ticket.repo,
      group: slug(ticket.group),
      dependsOn: positions as number[],
    });
  }
  return ok(tickets);
}

function positionOf(reference: string): number | undefined {
  const digits = reference.trim().replace(/^#/u, "");
  return /^[1-9][0-9]{0,2}$/u.test(digits) ? Number(digits) - 1 : undefined;
}

function isEarlierPosition(position: number | undefined, own: number, total: number): boolean {
  return position !== undefined && position < total && position !== own;
}

/** A safe part of a branch name. */
function slug(group: string): string {
  return group
    .toLowerCase()
    .replace(/[^a-z0-9._/-]+/gu, "-")
    .replace(/^[-./]+|[-./]+$/gu, "")
    .slice(0, 60);
}

/** The text of a ticket file. Values are written as JSON strings, which every YAML parser reads as plain text. */
export function ticketFileText(ticket: NewTicket, firstNumber: number, index: number, status: string): string {
  const lines = [
    `id: AGI-${firstNumber + index}`,
    `title: ${JSON.stringify(ticket.title)}`,
    `description: ${JSON.stringify(ticket.description.trim())}`,
    `repo: ${JSON.stringify(ticket.repo)}`,
    `status: ${JSON.stringify(status)}`,
    `dependsOn: [${ticket.dependsOn.map((position) => `AGI-${firstNumber + position}`).join(", ")}]`,
    ...(ticket.group === "" ? [] : [`group: ${JSON.stringify(ticket.group)}`]),
    ...(ticket.variantHint === "" ? [] : [`variantHint: ${JSON.stringify(ticket.variantHint)}`]),
  ];
  return `---\n${lines.join("\n")}\n---\n\n${ticket.description.trim()}\n`;
}
