// The text of a ticket file as a ticket, and everything that is wrong with it, with its place. Nothing doubtful is guessed: such a ticket is
// not started, and its file stays as it is.

import { splitFrontMatter } from "../../file/front-matter.ts";
import { type Position, readYaml, type YamlText } from "../../file/yaml.ts";
import { nearest } from "../../core/check/suggest.ts";
import { isTicketStatus, type TicketStatus, unknownStatusMessage } from "../../core/ticket/status.ts";
import { GROUP_PATTERN, isSafeGroup, type Ticket, type TicketProblem, ticketNumber } from "../../core/ticket/ticket.ts";

export type TicketSource = {
  readonly text: string;
  readonly hash: string;
  /** Relative to the project. */
  readonly path: string;
  readonly request: string;
  /** As the file's name says. */
  readonly id: string;
  readonly prefix: string;
  readonly unknownStatus: "block" | "Backlog";
  readonly allowsRepo: (repo: string) => boolean;
};

export type ReadTicket = {
  /** Left out where its status cannot be told. */
  readonly ticket: Ticket | null;
  readonly problems: readonly TicketProblem[];
  /** The file says no id; it is that of its name. */
  readonly lacksId: boolean;
  /** Where each dependency stands, in the order of the ticket's list. */
  readonly dependencyPlaces: readonly Position[];
};

export function readTicket(source: TicketSource): ReadTicket {
  const { text, hash, path, request, id, prefix } = source;
  const problems: TicketProblem[] = [];
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
  const status = readStatus();
  const number = ticketNumber(id, prefix);
  if (status === undefined || number === undefined) return { ...nothing, lacksId: value["id"] === undefined };
  const lacksId = readId();
  const { dependsOn, places } = readDependencies();
  const description = readText("description") ?? "";
  const ticket: Ticket = {
    id,
    number,
    title: oneLine(readText("title") ?? "") || firstLine(body) || id,
    description: description.trim() === "" ? body : description,
    body,
    repo: readRepo(),
    status,
    dependsOn,
    group: readGroup(),
    variantHint: readText("variantHint") ?? null,
    priority: readPriority(),
    workflow: readWorkflow(),
    flow: readFlow(),
    request,
    path,
    hash,
    lastError: readText("last_error") ?? null,
    prUrl: readText("pr_url") ?? null,
    conflict: readText("conflict") ?? null,
    source: readText("source") ?? null,
  };
  noteUnknownFields(read.value);
  return { ticket, problems, lacksId, dependencyPlaces: places };

  function note(code: string, message: string, place: Position, severity: TicketProblem["severity"] = "refused"): void {
    problems.push({ code, message, severity, path, ...place, ticket: id });
  }

  function readStatus(): TicketStatus | undefined {
    const word = value["status"];
    if (typeof word === "string" && isTicketStatus(word)) return word;
    const missing = word === undefined || word === null || word === "";
    const said = missing ? "the ticket says no status; " : "";
    const message = `${said}${unknownStatusMessage(typeof word === "string" ? word.slice(0, 100) : (JSON.stringify(word ?? "") ?? ""))}`;
    if (source.unknownStatus === "block") {
      note("unknown_status", message, at(["status"]));
      return undefined;
    }
    note("unknown_status", `${message}; it is taken for Backlog, as settings say`, at(["status"]), "warning");
    return "Backlog";
  }

  /** True where the file says none. */
  function readId(): boolean {
    const given = value["id"];
    if (given === undefined || given === null || given === "") return true;
    if (given !== id) note("id_mismatch", `the file is named ${id}.md, but says id: ${shown(given)}`, at(["id"]));
    return false;
  }

  function readDependencies(): { dependsOn: readonly string[]; places: readonly Position[] } {
    const given = value["dependsOn"] ?? [];
    const list: readonly unknown[] = Array.isArray(given) ? given : given === "" ? [] : [given];
    const found = new Map<string, Position>();
    for (const [index, each] of list.entries()) {
      const place = at(Array.isArray(given) ? ["dependsOn", index] : ["dependsOn"]);
      if (typeof each !== "string" || ticketNumber(each.trim(), prefix) === undefined)
        note(
          "invalid_dependency",
          `dependsOn[${index}] is ${shown(each)}; a dependency is an id such as ${prefix}-1`,
          place,
        );
      else if (!found.has(each.trim())) found.set(each.trim(), place);
    }
    return { dependsOn: [...found.keys()], places: [...found.values()] };
  }

  function readGroup(): string | null {
    const group = value["group"];
    if (group === undefined || group === null || group === "") return null;
    if (typeof group === "string" && isSafeGroup(group)) return group;
    note(
      "invalid_group",
      `the group ${shown(group)} cannot be part of a branch's name: ${GROUP_PATTERN}`,
      at(["group"]),
    );
    return null;
  }

  function readRepo(): string {
    const repo = readText("repo")?.trim() ?? "";
    if (repo === "" || repo === "TBD") return "TBD";
    if (!source.allowsRepo(repo)) {
      const help = "name the project's own repository, or add it to tickets.repos in passrail.yaml";
      note("repo_not_allowed", `work on the repository ${shown(repo)} is not allowed; ${help}`, at(["repo"]));
    }
    return repo;
  }

  function readPriority(): number | null {
    const priority = value["priority"] ?? null;
    if (priority === null || (typeof priority === "number" && Number.isSafeInteger(priority))) return priority;
    note(
      "invalid_priority",
      `the priority ${shown(priority)} is not a whole number and is not used`,
      at(["priority"]),
      "warning",
    );
    return null;
  }

  function readWorkflow(): string | null {
    const workflow = readText("workflow") ?? null;
    if (workflow === null || workflow === "" || workflow === "oneshot") return workflow || null;
    note(
      "unknown_workflow",
      `the workflow ${shown(workflow)} is not known; leave it out, or write oneshot`,
      at(["workflow"]),
    );
    return null;
  }

  function readFlow(): string | null {
    const flow = readText("flow") ?? "";
    if (flow === "" || /^[a-z][a-z0-9-]{0,47}$/u.test(flow)) return flow || null;
    note("invalid_flow", `the flow ${shown(flow)} cannot be the name of a flow`, at(["flow"]));
    return null;
  }

  /** Numbers and truth values are text too where text is meant: `title: 2024`. */
  function readText(key: string): string | undefined {
    const given = value[key];
    if (given === undefined || given === null) return undefined;
    if (typeof given === "string") return given;
    if (typeof given === "number" || typeof given === "boolean") return String(given);
    note("invalid_field", `${key} is not text`, at([key]));
    return undefined;
  }

  function noteUnknownFields({ at: placeOf }: YamlText): void {
    for (const key of Object.keys(value)) {
      if (KNOWN_KEYS.has(key)) continue;
      const near = nearest(key, KNOWN_KEYS);
      const hint = near === undefined ? "it is kept" : `it is kept; did you mean "${near}"?`;
      note("unknown_field", `the key ${shown(key)} means nothing to Passrail; ${hint}`, placeOf([key]), "warning");
    }
  }
}

/** The keys of the source, those that Passrail writes, and those that workers of the source's later versions wrote. */
const KNOWN_KEYS: ReadonlySet<string> = new Set(
  `id title description repo status dependsOn group variantHint priority workflow flow source labels
   last_error branch pr_url run conflict
   branch_name commit_hash preview_url last_summary artifacts`.split(/\s+/u),
);

const TITLE_LENGTH = 200;

function shown(value: unknown): string {
  return (JSON.stringify(value) ?? "nothing").slice(0, 100);
}

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
