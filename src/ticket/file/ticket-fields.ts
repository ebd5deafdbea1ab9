// The fields of a ticket's front matter, each read and checked separately. An unusable field is reported with its place.

import { nearest } from "../../core/check/suggest.ts";
import { FIRST_STATUS, isTicketStatus, type TicketStatus, unknownStatusMessage } from "../../core/ticket/status.ts";
import { GROUP_PATTERN, isSafeGroup, type TicketProblem, ticketNumber } from "../../core/ticket/ticket.ts";
import type { Position, YamlText } from "../../file/yaml.ts";

export type TicketSource = {
  readonly text: string;
  readonly hash: string;
  /** Relative to the project. */
  readonly path: string;
  readonly request: string;
  /** The id in the file's name. */
  readonly id: string;
  readonly prefix: string;
  readonly unknownStatus: "block" | "Backlog";
  readonly allowsRepo: (repo: string) => boolean;
};

export type TicketFields = Pick<YamlText, "value" | "at"> & {
  readonly source: TicketSource;
  readonly note: (code: string, message: string, place: Position, severity?: TicketProblem["severity"]) => void;
};

export function readStatus({ value, at, note, source }: TicketFields): TicketStatus | undefined {
  const word = value["status"];
  if (typeof word === "string" && isTicketStatus(word)) return word;
  const missing = word === undefined || word === null || word === "";
  const said = missing ? "the ticket says no status; " : "";
  const message = `${said}${unknownStatusMessage(typeof word === "string" ? word.slice(0, 100) : (JSON.stringify(word ?? "") ?? ""))}`;
  if (source.unknownStatus === "block") {
    note("unknown_status", message, at(["status"]));
    return undefined;
  }
  note("unknown_status", `${message}; it is taken for ${FIRST_STATUS}, as settings say`, at(["status"]), "warning");
  return FIRST_STATUS;
}

/** True if the file has no id. */
export function lacksId({ value, at, note, source: { id } }: TicketFields): boolean {
  const given = value["id"];
  if (given === undefined || given === null || given === "") return true;
  if (given !== id) note("id_mismatch", `the file is named ${id}.md, but says id: ${quoted(given)}`, at(["id"]));
  return false;
}

export function readDependencies({ value, at, note, source: { prefix } }: TicketFields): {
  dependsOn: readonly string[];
  places: readonly Position[];
} {
  noteLostDependencies({ value, at, note, prefix });
  const given = value["dependsOn"] ?? [];
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  const found = new Map<string, Position>();
  for (const [index, each] of list.entries()) {
    const place = at(Array.isArray(given) ? ["dependsOn", index] : ["dependsOn"]);
    if (typeof each !== "string" || ticketNumber(each.trim(), prefix) === undefined)
      note("invalid_dependency", `dependsOn[${index}] is ${quoted(each)}; ${meant(each, prefix)}`, place);
    else if (!found.has(each.trim())) found.set(each.trim(), place);
  }
  return { dependsOn: [...found.keys()], places: [...found.values()] };
}

/** A value that only looks like a dependency would let a ticket start too early. */
function noteLostDependencies({
  value,
  at,
  note,
  prefix,
}: Pick<TicketFields, "value" | "at" | "note"> & { readonly prefix: string }): void {
  if (value["dependsOn"] === null)
    note(
      "invalid_dependency",
      `dependsOn has no value; write [] for none, or ids such as [${prefix}-1]`,
      at(["dependsOn"]),
    );
  for (const key of Object.keys(value)) {
    if (KNOWN_KEYS.has(key) || !isDependency(key)) continue;
    note("misspelt_dependency", `the key ${quoted(key)} means nothing; did you mean "dependsOn"?`, at([key]));
  }
}

/** `dependson`, `depends_on`, `dependOn`, `Depends-On`, `dependencies`, `depends`. */
function isDependency(key: string): boolean {
  const letters = key
    .slice(0, 40)
    .toLowerCase()
    .replaceAll(/[^a-z]/gu, "");
  return ["dependson", "depends", "dependencies", "dependency"].some((word) => nearest(letters, [word]) !== undefined);
}

/** `agi-1`, `AGI1` and `1` are near an id. */
function meant(given: unknown, prefix: string): string {
  const text = typeof given === "string" || typeof given === "number" ? String(given).slice(0, 60) : "";
  const digits = /^\s*[a-z]{0,10}[\s_#-]{0,2}([1-9][0-9]{0,8})\s*$/iu.exec(text)?.[1];
  if (digits !== undefined) return `did you mean "${prefix}-${digits}"?`;
  return `a dependency is an id such as ${prefix}-1`;
}

export function readGroup({ value, at, note }: TicketFields): string | null {
  const group = value["group"];
  if (group === undefined || group === null || group === "") return null;
  if (typeof group === "string" && isSafeGroup(group)) return group;
  note(
    "invalid_group",
    `the group ${quoted(group)} cannot be part of a branch's name: ${GROUP_PATTERN}`,
    at(["group"]),
  );
  return null;
}

export function readRepo(fields: TicketFields): string {
  const repo = readText(fields, "repo")?.trim() ?? "";
  if (repo === "" || repo === "TBD") return "TBD";
  if (!fields.source.allowsRepo(repo)) {
    const help = "name the project's own repository, or add it to tickets.repos in passrail.yaml";
    fields.note(
      "repo_not_allowed",
      `work on the repository ${quoted(repo)} is not allowed; ${help}`,
      fields.at(["repo"]),
    );
  }
  return repo;
}

export function readPriority({ value, at, note }: TicketFields): number | null {
  const priority = value["priority"] ?? null;
  if (priority === null || (typeof priority === "number" && Number.isSafeInteger(priority))) return priority;
  note(
    "invalid_priority",
    `the priority ${quoted(priority)} is not a whole number and is not used`,
    at(["priority"]),
    "warning",
  );
  return null;
}

export function readWorkflow(fields: TicketFields): string | null {
  const workflow = readText(fields, "workflow") ?? null;
  if (workflow === null || workflow === "" || workflow === "oneshot") return workflow || null;
  fields.note(
    "unknown_workflow",
    `the workflow ${quoted(workflow)} is not known; leave it out, or write oneshot`,
    fields.at(["workflow"]),
  );
  return null;
}

export function readFlow(fields: TicketFields): string | null {
  const flow = readText(fields, "flow") ?? "";
  if (flow === "" || /^[a-z][a-z0-9-]{0,47}$/u.test(flow)) return flow || null;
  fields.note("invalid_flow", `the flow ${quoted(flow)} cannot be the name of a flow`, fields.at(["flow"]));
  return null;
}

/** Numbers and booleans count as text where text is expected: `title: 2024`. */
export function readText({ value, at, note }: TicketFields, key: string): string | undefined {
  const given = value[key];
  if (given === undefined || given === null) return undefined;
  if (typeof given === "string") return given;
  if (typeof given === "number" || typeof given === "boolean") return String(given);
  note("invalid_field", `${key} is not text`, at([key]));
  return undefined;
}

export function noteUnknownFields({ value, at, note }: TicketFields): void {
  for (const key of Object.keys(value)) {
    if (KNOWN_KEYS.has(key) || isDependency(key)) continue;
    const near = nearest(key, KNOWN_KEYS);
    const hint = near === undefined ? "it is kept" : `it is kept; did you mean "${near}"?`;
    note("unknown_field", `the key ${quoted(key)} means nothing to Passrail; ${hint}`, at([key]), "warning");
  }
}

/** The keys of source 004, those that Passrail writes, and those that workers of its later versions wrote. */
const KNOWN_KEYS: ReadonlySet<string> = new Set(
  `id title description repo status dependsOn group variantHint priority workflow flow source labels
   last_error branch pr_url run conflict
   branch_name commit_hash preview_url last_summary artifacts`.split(/\s+/u),
);

function quoted(value: unknown): string {
  return (JSON.stringify(value) ?? "nothing").slice(0, 100);
}
