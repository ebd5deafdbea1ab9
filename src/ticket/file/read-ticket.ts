// Reads the text of a ticket file as a ticket, with every problem and its place. It does not guess: a ticket with a doubtful field is not
// started, and its file stays as it is.

import { splitFrontMatter } from "../../file/front-matter.ts";
import { type Position, readYaml } from "../../file/yaml.ts";
import { type Ticket, type TicketProblem, ticketNumber } from "../../core/ticket/ticket.ts";
import type { TicketStatus } from "../../core/ticket/status.ts";
import {
  lacksId,
  noteUnknownFields,
  readDependencies,
  readFlow,
  readGroup,
  readPriority,
  readRepo,
  readStatus,
  readText,
  readWorkflow,
  type TicketFields,
  type TicketSource,
} from "./ticket-fields.ts";

export type ReadTicket = {
  /** Null if its status cannot be read. */
  readonly ticket: Ticket | null;
  readonly problems: readonly TicketProblem[];
  /** The file has no id; its name decides. */
  readonly lacksId: boolean;
  /** The place of each dependency, in the order of the ticket's list. */
  readonly dependencyPlaces: readonly Position[];
};

export function readTicket(source: TicketSource): ReadTicket {
  const { text, path, id, prefix } = source;
  const problems: TicketProblem[] = [];
  const note: TicketFields["note"] = (code, message, place, severity = "refused") =>
    void problems.push({ code, message, severity, path, ...place, ticket: id });
  const nothing: ReadTicket = { ticket: null, problems, lacksId: false, dependencyPlaces: [] };
  const split = splitFrontMatter(text);
  if (!split.ok) {
    const code = split.error.code === "frontmatter_missing" ? "ticket_no_frontmatter" : split.error.code;
    note(code, split.error.message, { line: 1, column: 1 });
    return nothing;
  }
  const { yaml, linesBefore, body } = split.value;
  const read = readYaml(yaml, { file: path, subject: "ticket", linesBefore });
  if (!read.ok) {
    for (const { code, message, line, column } of read.error) note(code, message, { line, column });
    return nothing;
  }
  const { value, at } = read.value;
  const fields: TicketFields = { value, at, note, source };
  const status = readStatus(fields);
  const number = ticketNumber(id, prefix);
  if (status === undefined || number === undefined) return { ...nothing, lacksId: value["id"] === undefined };
  const isWithoutId = lacksId(fields);
  const { dependsOn, places } = readDependencies(fields);
  const ticket = ticketOf(fields, { number, status, dependsOn, body });
  noteUnknownFields(fields);
  return { ticket, problems, lacksId: isWithoutId, dependencyPlaces: places };
}

type ReadBefore = {
  readonly number: number;
  readonly status: TicketStatus;
  readonly dependsOn: readonly string[];
  readonly body: string;
};

function ticketOf(fields: TicketFields, { number, status, dependsOn, body }: ReadBefore): Ticket {
  const { id, request, path, hash } = fields.source;
  const description = readText(fields, "description") ?? "";
  return {
    id,
    number,
    title: oneLine(readText(fields, "title") ?? "") || firstLine(body) || id,
    description: description.trim() === "" ? body : description,
    body,
    repo: readRepo(fields),
    status,
    dependsOn,
    group: readGroup(fields),
    ...branchKeys(readText(fields, "branch")),
    variantHint: readText(fields, "variantHint") ?? null,
    priority: readPriority(fields),
    workflow: readWorkflow(fields),
    flow: readFlow(fields),
    request,
    path,
    hash,
    lastError: readText(fields, "last_error") ?? null,
    prUrl: readText(fields, "pr_url") ?? null,
    conflict: readText(fields, "conflict") ?? null,
    source: readText(fields, "source") ?? null,
  };
}

function branchKeys(branch: string | undefined): Pick<Ticket, "adoptsBranch" | "branch"> {
  if (branch === undefined || branch === "") return {};
  return branch === "adopt" ? { adoptsBranch: true } : { branch };
}

const TITLE_LENGTH = 200;

function oneLine(text: string): string {
  return text.slice(0, 2000).replaceAll(/\s+/gu, " ").trim().slice(0, TITLE_LENGTH);
}

function firstLine(body: string): string {
  const line = body
    .slice(0, 20_000)
    .split("\n")
    .find((each) => each.trim() !== "");
  return oneLine((line ?? "").replace(/^#{1,6}\s+/u, ""));
}
