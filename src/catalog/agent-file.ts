// An agent file: Markdown whose front matter describes the agent and whose body is its prompt.
// Files made for Claude Code (.claude/agents) are accepted unchanged, even where their front matter is not quite YAML.

import { basename } from "node:path";
import { z } from "zod";
import { agentOptionKeys, type WrittenOptions } from "../core/flow/agent-options.ts";
import { storedOptions } from "../core/flow/stored-options.ts";
import type { AgentDefinition } from "../core/flow/agent.ts";
import { looksSecret } from "../core/check/secrets.ts";
import type { FileProblem } from "../core/check/problem.ts";
import { FLOW_NAME_PATTERN } from "../core/flow/flow-file.ts";
import { err, ok, type Problem, type Result } from "../core/result.ts";
import { splitFrontMatter } from "../file/front-matter.ts";
import { readYaml } from "../file/yaml.ts";
import { optional } from "../core/optional.ts";

export type CatalogOrigin = "shipped" | "project" | "claude";

export type AgentFile = AgentDefinition & {
  /** Relative to the package or the project. */
  readonly file: string;
  readonly origin: CatalogOrigin;
};

/** Users ask for a routed run by this word, so no agent can have it as its name. */
const RESERVED_NAME = "pipeline";

export function readAgent(
  text: string,
  file: string,
  shownFile: string,
  origin: CatalogOrigin,
): Result<AgentFile, readonly FileProblem[]> {
  const fail = ({ code, message, hint }: Problem, line = 1): Result<never, readonly FileProblem[]> =>
    err([{ code, message, ...optional({ hint }), severity: "error", file: shownFile, line, column: 1 }]);
  const split = splitFrontMatter(text);
  if (!split.ok) return fail(split.error);
  const { yaml, linesBefore, body } = split.value;
  const read = readYaml(yaml, { file: shownFile, subject: "agent", linesBefore });
  const loose = !read.ok && origin === "claude" && read.error.every(({ code }) => code === "yaml_syntax");
  if (!read.ok && !loose) return err(read.error.map(withoutSecret));
  const matter = read.ok ? read.value.value : looseFields(yaml);
  const lineOf = (key: string): number => (read.ok ? read.value.at([key]).line : 1 + linesBefore);

  const name = (textOf(matter["name"]) ?? basename(file, ".md")).toLowerCase();
  if (!FLOW_NAME_PATTERN.test(name)) {
    return fail(
      {
        code: "invalid_name",
        message: `"${name.slice(0, 60)}" cannot be the name of an agent`,
        hint: "lower-case letters, digits and dashes, at most 48",
      },
      lineOf("name"),
    );
  }
  if (name === RESERVED_NAME)
    return fail(
      { code: "reserved_name", message: `"${RESERVED_NAME}" asks for a routed run and cannot be an agent` },
      lineOf("name"),
    );
  const prompt = body.trim();
  if (prompt === "")
    return fail({ code: "agent_empty", message: "the agent has no prompt", hint: "write it under the front matter" });
  const model = textOf(matter["model"]);
  // `command` is Passrail's own key; in a file made for another tool it means nothing.
  const command = origin === "claude" ? undefined : matter["command"];
  if (command !== undefined && !isWords(command)) {
    const hint = 'write the program and each argument separately: ["node", "agent.mjs"]; there is no shell';
    return fail({ code: "command_must_be_list", message: "a command is a list of words", hint }, lineOf("command"));
  }
  const options = readOptions(matter, origin);
  if (!options.ok) return fail(options.error, lineOf(options.error.key));
  const role = readRole(matter);
  if (!role.ok) return fail(role.error, lineOf(role.error.key));
  return ok({
    name,
    description: textOf(matter["description"]) ?? textOf(matter["whenToUse"]) ?? firstLine(prompt),
    skills: listOf(matter["skills"]),
    ...role.value,
    ...(model === undefined || model === "inherit" ? {} : { model }),
    ...(Object.keys(options.value).length === 0 ? {} : { options: options.value }),
    ...optional({ command }),
    prompt,
    file,
    origin,
  });
}

type Role = Pick<AgentDefinition, "isRouted" | "judges" | "reads" | "writes">;

/** `router`, `judges`, `reads` and `writes`: for a router, and for a flow without a stage for this agent. */
function readRole(matter: Readonly<Record<string, unknown>>): Result<Role, Problem & { readonly key: string }> {
  for (const key of ["router", "judges"]) {
    const value = matter[key];
    // A file that is not quite YAML gives every value as text.
    if (value !== undefined && typeof value !== "boolean" && value !== "true" && value !== "false")
      return err({ code: "invalid_option", message: `"${key}": expected true or false`, key });
  }
  const on = (key: string): true | undefined => (matter[key] === true || matter[key] === "true" ? true : undefined);
  const paths = (key: string): readonly string[] | undefined =>
    matter[key] === undefined ? undefined : listOf(matter[key]).slice(0, MAX_PATHS);
  return ok(optional({ isRouted: on("router"), judges: on("judges"), reads: paths("reads"), writes: paths("writes") }));
}

const MAX_PATHS = 50;

/** Reads a file made for another tool by that tool's key names. Keys that would start programs or lift checks are ignored. */
function readOptions(
  matter: Readonly<Record<string, unknown>>,
  origin: CatalogOrigin,
): Result<WrittenOptions, Problem & { readonly key: string }> {
  const asList = (key: string) => (matter[key] === undefined ? {} : { [key]: listOf(matter[key]) });
  const foreign = {
    ...asList("tools"),
    ...(matter["disallowedTools"] === undefined ? {} : { deny_tools: listOf(matter["disallowedTools"]) }),
    ...(matter["maxTurns"] === undefined ? {} : { max_turns: Number(matter["maxTurns"]) }),
    ...(matter["permissionMode"] === "plan" ? { permission: "read" } : {}),
    ...(EFFORTS.has(String(matter["effort"])) ? { effort: matter["effort"] } : {}),
  };
  // Unknown keys in an agent file are allowed: files of other tools have many.
  const own =
    origin === "claude"
      ? {}
      : Object.fromEntries(OWN_KEYS.filter((key) => matter[key] !== undefined).map((key) => [key, matter[key]]));
  const parsed = optionsSchema.safeParse({ ...foreign, ...own, ...asList("tools") });
  if (parsed.success) return ok(storedOptions(parsed.data));
  const [issue] = parsed.error.issues;
  const key = String(issue?.path[0] ?? "");
  // A value that only another tool understands is not an error in that tool's file.
  if (origin === "claude") return ok(storedOptions(asList("tools")));
  return err({ code: "invalid_option", message: `"${key}": ${issue?.message ?? "not a valid value"}`, key });
}

const OWN_KEYS = Object.keys(agentOptionKeys);
const EFFORTS: ReadonlySet<string> = new Set(["minimal", "low", "medium", "high", "max"]);
const optionsSchema = z.strictObject({ ...agentOptionKeys, max_turns: z.int().min(1).max(10_000).optional() });

function withoutSecret(problem: FileProblem): FileProblem {
  const { text, ...rest } = problem;
  return text === undefined || looksSecret(text) ? rest : problem;
}

/** Reads `key: the rest of the line`, as Claude Code does: descriptions there often hold colons that YAML would refuse. */
function looseFields(yaml: string): Record<string, unknown> {
  const fields = yaml.split("\n").flatMap((line) => {
    const colon = line.indexOf(":");
    const key = line.slice(0, Math.max(colon, 0));
    return /^[A-Za-z][A-Za-z0-9_-]{0,39}$/.test(key) ? [[key, line.slice(colon + 1).trim()] as const] : [];
  });
  return Object.fromEntries(fields);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value.trim() !== "" ? value.trim() : undefined;
}

/** A list, or words separated by commas. */
function listOf(value: unknown): readonly string[] {
  if (typeof value === "string") return value.split(",").flatMap((item) => textOf(item) ?? []);
  return Array.isArray(value) ? value.flatMap((item) => textOf(item) ?? []) : [];
}

function isWords(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => typeof item === "string" && item !== "");
}

function firstLine(body: string): string {
  const line = body.split("\n").find((candidate) => candidate.replace(/^#+/, "").trim() !== "") ?? "";
  return line.replace(/^#+/, "").trim().slice(0, 200);
}
