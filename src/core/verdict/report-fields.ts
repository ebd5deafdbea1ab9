// The fields that every JSON verdict may have, checked once for all JSON channels: types, sizes, no coercion.
// `null` counts as not given. The first fault wins; words are kept as the source wrote them.

import type { Json, JsonObject } from "../json.ts";
import { DISPOSITIONS, type Disposition, type FindingNote, type Issue, type RoutedStage } from "../flow/outcome.ts";
import type { Unreadable } from "./reading.ts";
import { clip, ITEM_CHARS, MAX_ISSUES, present, WORD_CHARS } from "./reading.ts";
import { insidePath } from "./inside-path.ts";

const MAX_QUESTIONS = 50;
const MAX_STAGES = 20;
const MAX_BLAMED = 20;
const LONG_TEXT = 65_536;

/** Reads fields of one object; after the last of them `fault()` says whether all were right. */
export function createFieldReader(object: JsonObject) {
  const values = createValueReader(object);
  const { refuse, given, list, texts } = values;

  return {
    text: values.text,
    fault: values.fault,
    warnings: values.warnings,
    path: values.path,
    object: values.object,
    advisory: values.advisory,

    /** The word as given, `"SHIP "` included: whether it is known is the flow's business. */
    verdict(): string | undefined {
      const value = Object.hasOwn(object, "verdict") ? object.verdict : undefined;
      if (value === undefined || (typeof value === "string" && value.length <= WORD_CHARS)) return value;
      if (typeof value === "string") return refuse(`"verdict" is longer than ${WORD_CHARS} characters.`);
      return refuse(`"verdict" must be a string, not ${kindOf(value)}.`, "verdict_unknown");
    },

    score(): number | undefined {
      const value = given("score");
      if (value === undefined) return undefined;
      if (typeof value !== "number") return refuse(`"score" must be a number, not ${kindOf(value)}.`);
      if (value >= 1 && value <= 10) return value;
      return values.warn(`score ${value} is outside 1–10 and was ignored`);
    },

    questions: () => texts("questions", MAX_QUESTIONS, ITEM_CHARS),
    blame: () => texts("blame", MAX_BLAMED, WORD_CHARS),

    issues(): readonly Issue[] | undefined {
      const items = list("issues", MAX_ISSUES);
      const issues: Issue[] = [];
      for (const [index, item] of items?.entries() ?? []) {
        const issue = toIssue(item);
        if (typeof issue === "object" && "wrong" in issue) return refuse(`"issues[${index}]" ${issue.wrong}.`);
        issues.push(issue);
      }
      return items && issues;
    },

    /** The dispositions of findings by their ids. */
    findings(): readonly FindingNote[] | undefined {
      const items = list("findings", MAX_ISSUES);
      const notes: FindingNote[] = [];
      for (const [index, item] of items?.entries() ?? []) {
        const note = toNote(item);
        if ("wrong" in note) return refuse(`"findings[${index}]" ${note.wrong}.`);
        notes.push(note);
      }
      return items && notes;
    },

    stages(): readonly RoutedStage[] | undefined {
      const items = list("stages", MAX_STAGES);
      if (!items) return undefined;
      const stages = toStages(items);
      return "wrong" in stages ? refuse(`"stages": ${stages.wrong}.`) : stages.value;
    },

    /** The agent's claims about loop, next agent and status: the engine compares them with what it knows and never obeys them. */
    claimed(): { loop?: number; next?: string; status?: string } | undefined {
      const claimed = present({
        loop: values.advisory("revision_loop", "number"),
        next: values.advisory("next_agent", "string"),
        status: values.advisory("status_update", "string"),
      });
      return Object.keys(claimed).length > 0 ? claimed : undefined;
    },
  };
}

/** Reads values by key and type, and keeps the first fault and every warning. */
function createValueReader(object: JsonObject) {
  let fault: Unreadable | undefined;
  const warnings: string[] = [];

  const refuse = (message: string, code: Unreadable["code"] = "verdict_field_invalid"): undefined => {
    fault ??= { code, message };
  };
  const warn = (warning: string): undefined => {
    warnings.push(warning);
  };
  const given = (key: string): Json | undefined =>
    Object.hasOwn(object, key) ? (object[key] ?? undefined) : undefined;

  const text = (key: string, max = LONG_TEXT): string | undefined => {
    const value = given(key);
    if (value === undefined) return undefined;
    if (typeof value !== "string") return refuse(`"${key}" must be a string, not ${kindOf(value)}.`);
    return value.length <= max ? value : refuse(`"${key}" is longer than ${max} characters.`);
  };

  const list = (key: string, max: number): readonly Json[] | undefined => {
    const value = given(key);
    if (value === undefined) return undefined;
    if (!isList(value)) return refuse(`"${key}" must be a list, not ${kindOf(value)}.`);
    return value.length <= max ? value : refuse(`"${key}" has ${value.length} entries; at most ${max} are allowed.`);
  };

  const texts = (key: string, max: number, chars: number): readonly string[] | undefined => {
    const items = list(key, max);
    const bad = items?.findIndex((item) => typeof item !== "string" || item.length > chars) ?? -1;
    if (bad >= 0) return refuse(`"${key}[${bad}]" must be a string of at most ${chars} characters.`);
    return items as readonly string[] | undefined;
  };

  const path = (key: string): string | undefined => {
    const value = text(key, 1024);
    if (value === undefined) return undefined;
    const outside = `"${key}" must be a path inside the workspace, not ${JSON.stringify(clip(value, 200))}.`;
    return insidePath(value) ?? refuse(outside);
  };

  const objectAt = (key: string): JsonObject | undefined => {
    const value = given(key);
    if (value === undefined || isObject(value)) return value;
    return refuse(`"${key}" must be an object, not ${kindOf(value)}.`);
  };

  /** A field that the engine only compares: a wrong type is worth a warning, not a failed attempt. */
  const advisory = <T extends "number" | "string">(
    key: string,
    type: T,
  ): (T extends "number" ? number : string) | undefined => {
    const value = given(key);
    const fits =
      type === "number"
        ? Number.isSafeInteger(value) && Number(value) >= 0
        : typeof value === "string" && value.length <= ITEM_CHARS;
    if (value === undefined || fits) return value as (T extends "number" ? number : string) | undefined;
    return warn(`"${key}" is not ${type === "number" ? "a whole number" : "a short string"} and was ignored`);
  };

  return {
    refuse,
    warn,
    given,
    text,
    list,
    texts,
    path,
    object: objectAt,
    advisory,
    fault: () => fault,
    warnings: () => (warnings.length > 0 ? warnings : undefined),
  };
}

/** A router's list as stages, or what is wrong with it. Names are kept as written. */
export function toStages(items: readonly Json[]): { value: readonly RoutedStage[] } | { wrong: string } {
  if (items.length === 0) return { wrong: "the list is empty" };
  if (items.length > MAX_STAGES)
    return { wrong: `the list has ${items.length} entries; at most ${MAX_STAGES} are allowed` };
  const stages: RoutedStage[] = [];
  for (const [index, item] of items.entries()) {
    const where = `entry ${index + 1}`;
    if (!isObject(item)) return { wrong: `${where} must be an object {agent, teams}, not ${kindOf(item)}` };
    const { agent, teams } = item;
    if (typeof agent !== "string" || agent === "" || agent.length > WORD_CHARS)
      return { wrong: `${where} must name an agent` };
    if (teams !== undefined && teams !== null && typeof teams !== "boolean") {
      return { wrong: `"teams" of ${where} must be true or false, not ${kindOf(teams)}` };
    }
    stages.push({ agent, teams: teams ?? false });
  }
  return { value: stages };
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !isList(value);
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

export function kindOf(value: Json | undefined): string {
  if (value === null) return "null";
  if (isList(value)) return "a list";
  return typeof value === "object" ? "an object" : `a ${typeof value}`;
}

/** A state in the spelling of either grammar; a builder's note has none. */
function toNote(item: Json): FindingNote | { wrong: string } {
  if (!isObject(item)) return { wrong: `must be an object {id, state, reason}, not ${kindOf(item)}` };
  const { id } = item;
  if (typeof id !== "string" || !/^F[1-9][0-9]{0,8}$/u.test(id)) return { wrong: 'has no "id" such as F1' };
  const said = item.reason ?? item.note ?? "";
  if (typeof said !== "string" || said.length > ITEM_CHARS)
    return { wrong: `has a "reason" that is not a text of at most ${ITEM_CHARS} characters` };
  if (item.state === undefined || item.state === null) return { id, said };
  const state = typeof item.state === "string" ? item.state.toLowerCase().replace(/[ -]/u, "_") : "";
  const known = DISPOSITIONS.find((each): each is Disposition => each === state);
  return known === undefined
    ? { wrong: `has a "state" that is none of ${DISPOSITIONS.join(", ")}` }
    : { id, state: known, said };
}

const ISSUE_TEXTS = ["severity", "file", "rule"] as const;

function toIssue(item: Json): Issue | { wrong: string } {
  if (typeof item === "string")
    return item.length <= ITEM_CHARS ? item : { wrong: `is longer than ${ITEM_CHARS} characters` };
  if (!isObject(item)) return { wrong: `must be a string or an object, not ${kindOf(item)}` };
  const description = item.description ?? item.text;
  if (typeof description !== "string") return { wrong: 'must have a "description"' };
  if (description.length > ITEM_CHARS) return { wrong: `is longer than ${ITEM_CHARS} characters` };
  const issue: { -readonly [K in keyof Exclude<Issue, string>]: Exclude<Issue, string>[K] } = { description };
  for (const key of ISSUE_TEXTS) {
    const value = item[key] ?? undefined;
    if (value === undefined) continue;
    if (typeof value !== "string" || value.length > 1024) return { wrong: `has a "${key}" that is not a short string` };
    issue[key] = value;
  }
  const line = item.line ?? undefined;
  if (line === undefined) return issue;
  if (typeof line !== "number" || !Number.isSafeInteger(line) || line < 0)
    return { wrong: 'has a "line" that is not a whole number' };
  return { ...issue, line };
}
