// The list of tickets from an intake agent as data, and the file that each becomes. References between its own tickets (`#1`) become ids
// here, because no agent can know the numbers.

import { z } from "zod";
import { err, ok, type Result } from "../result.ts";
import { isSafeGroup } from "./ticket.ts";
import { yamlText, yamlValue } from "./yaml-value.ts";

const ticketSchema = z.object({
  title: z.string().trim().min(1).max(200),
  description: z
    .string()
    .max(64 * 1024)
    .default(""),
  repo: z.string().trim().nullish(),
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
  /** A number is a position within the list, from 0; a text is the id of an existing ticket. */
  readonly dependsOn: readonly (number | string)[];
  readonly priority: number | null;
  /** Where it was imported from: `github:owner/repo#12`. Each source becomes one ticket, however often it is imported. */
  readonly source: string | null;
};

const MAX_TICKETS = 50;

/** `repo`: of tickets that name none. */
export function readTicketList(value: unknown, repo: string = "TBD"): Result<readonly NewTicket[]> {
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
      repo: ticket.repo === "" ? repo : (ticket.repo ?? repo),
      group: safeGroup(ticket.group),
      dependsOn: [...new Set(positions as number[])],
      priority: null,
      source: null,
    });
  }
  const circle = circleOf(tickets);
  if (circle.length > 0)
    return err({
      code: "dependency_cycle",
      message: `the tickets ${circle.map((position) => `#${position + 1}`).join(", ")} wait for each other in a circle, so none could begin`,
    });
  return ok(tickets);
}

/** Positions of the tickets that can never begin because they wait for each other, or for tickets that do. */
export function circleOf(tickets: readonly Pick<NewTicket, "dependsOn">[]): readonly number[] {
  const left = new Set(tickets.keys());
  for (let size = -1; size !== left.size; ) {
    size = left.size;
    for (const position of left) {
      const before = tickets[position]?.dependsOn.filter((other) => typeof other === "number") ?? [];
      if (before.every((other) => !left.has(other))) left.delete(position);
    }
  }
  return [...left];
}

function positionOf(reference: string): number | undefined {
  const digits = reference.trim().replace(/^#/u, "");
  return /^[1-9][0-9]{0,2}$/u.test(digits) ? Number(digits) - 1 : undefined;
}

function isEarlierPosition(position: number | undefined, own: number, total: number): boolean {
  return position !== undefined && position < total && position !== own;
}

/** A safe part of a branch name; empty if no part of the text is safe. */
export function safeGroup(group: string): string {
  const parts = group
    .slice(0, 1000)
    .toLowerCase()
    .replace(/[^a-z0-9._/-]+/gu, "-")
    .split("/")
    .map((part) => part.replace(/\.{2,}/gu, ".").replace(/^[-._]+|[-.]+$/gu, ""))
    .map((part) => part.replace(/\.lock$/u, "-lock"))
    .filter((part) => part !== "");
  const safe = parts
    .join("/")
    .slice(0, 60)
    .replace(/[-./]+$/u, "");
  return isSafeGroup(safe) ? safe : "";
}

/** The text of a ticket file. It holds the description once: a second copy below would contradict it after the first edit. `ids` are those of the whole list, `index` selects one. */
export function ticketFileText(ticket: NewTicket, ids: readonly string[], index: number, status: string): string {
  const dependsOn = ticket.dependsOn.map((on) => (typeof on === "number" ? (ids[on] ?? "") : on));
  const lines = [
    `id: ${ids[index]}`,
    `title: ${yamlValue(ticket.title, '"')}`,
    `description: ${yamlText(ticket.description.trim())}`,
    `repo: ${yamlValue(ticket.repo, '"')}`,
    `status: ${yamlValue(status)}`,
    `dependsOn: ${yamlValue(dependsOn)}`,
    ...(ticket.group === "" ? [] : [`group: ${yamlValue(ticket.group, '"')}`]),
    ...(ticket.variantHint === "" ? [] : [`variantHint: ${yamlValue(ticket.variantHint, '"')}`]),
    ...(ticket.priority === null ? [] : [`priority: ${ticket.priority}`]),
    ...(ticket.source === null ? [] : [`source: ${yamlValue(ticket.source, '"')}`]),
  ];
  return `---\n${lines.join("\n")}\n---\n`;
}
