// `ticket new`: creates one ticket in the backlog.

import { randomUUID } from "node:crypto";
import { GROUP_PATTERN, isSafeGroup } from "../../../core/ticket/ticket.ts";
import { ownRepoNames, repoRule } from "../../../ticket/file/repos.ts";
import { EXIT, problemError, usageError } from "../../errors.ts";
import { requireKey } from "../../idempotency-key.ts";
import type { Io } from "../../terminal/io.ts";
import { requireOperator } from "../../operator.ts";
import { printJson } from "../../terminal/output.ts";
import { readInput } from "../../task-text.ts";
import { findTicket, readTickets } from "./read-tickets.ts";
import { optional } from "../../../core/optional.ts";

export type NewOptions = {
  readonly depends: readonly string[];
  readonly body?: string;
  readonly group?: string;
  readonly repo?: string;
  readonly priority?: string;
  readonly request?: string;
  readonly idempotencyKey?: string;
};

const TITLE_LENGTH = 200;
const BODY_BYTES = 64 * 1024;

export async function ticketNew(io: Io, words: string, options: NewOptions): Promise<number> {
  requireOperator(io, "ticket new");
  const title = words.replaceAll(/\s+/gu, " ").trim();
  if (title === "") throw usageError("title_missing", "The title is missing.", 'passrail ticket new "text"');
  if (title.length > TITLE_LENGTH)
    throw usageError("title_too_long", `A title has at most ${TITLE_LENGTH} characters.`, "Put the rest into --body.");
  const { group = "", request } = options;
  if (group !== "" && !isSafeGroup(group)) throw usageError("invalid_group", `--group: ${GROUP_PATTERN}.`);
  const tickets = await readTickets(io);
  const dependsOn = options.depends.map((typed) => findTicket(tickets, typed).id);
  const ticket = {
    title,
    description: await bodyOf(options.body),
    repo: repoOf(io, tickets.settings.repos, options.repo),
    group,
    variantHint: "",
    dependsOn: [...new Set(dependsOn)],
    priority: priorityOf(options.priority),
    source: null,
  };
  const how = { key: keyOf(options.idempotencyKey), status: "Backlog", ...optional({ request }) };
  const created = await tickets.folder.create([ticket], how);
  if (!created.ok) throw problemError(created.error);
  const [path = ""] = created.value;
  const [id = "", inRequest = ""] = path.replace(/\.md$/u, "").split("/").toReversed();
  if (io.json) printJson(io, { id, path, request: inRequest });
  else if (io.quiet) io.out(id);
  else io.out(`Created ${path}`);
  return EXIT.ok;
}

function keyOf(given: string | undefined): string {
  return given === undefined ? randomUUID() : JSON.stringify(["ticket new", requireKey(given)]);
}

async function bodyOf(given: string | undefined): Promise<string> {
  const text = given === "-" ? await readInput() : (given ?? "");
  if (Buffer.byteLength(text) > BODY_BYTES)
    throw usageError("ticket_too_large", `The text has more than ${BODY_BYTES / 1024} KiB.`);
  return text;
}

function repoOf(io: Io, repos: Readonly<Record<string, string>>, given: string | undefined): string {
  const [own = "."] = ownRepoNames(io.cwd);
  if (given === undefined || given === "TBD") return given ?? own;
  if (repoRule(io.cwd, repos)(given)) return given;
  const known = [own, ...Object.keys(repos)].join(", ");
  throw usageError(
    "repo_not_allowed",
    `--repo: work on "${given}" is not allowed.`,
    `Known: ${known}. Others go to tickets.repos in passrail.yaml.`,
  );
}

export function priorityOf(given: string | undefined): number | null {
  if (given === undefined || given === "") return null;
  if (!/^-?[0-9]{1,9}$/u.test(given))
    throw usageError("invalid_priority", "A priority is a whole number; the lowest comes first.");
  return Number(given);
}
