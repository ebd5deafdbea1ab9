// A verdict submitted by a tool call or as structured output of the runner: its schema and its reader.
// The schema covers single fields; the reader checks sizes and combinations, and its messages let the agent correct them.

import type { Flow, WorkStage } from "../flow/flow.ts";
import type { Json, JsonObject } from "../json.ts";
import type { Report } from "../flow/outcome.ts";
import { ok } from "../result.ts";
import type { DodMark } from "./dod-coverage.ts";
import { schemaFaults } from "./fits-schema.ts";
import { JSON_LIMITS, parseStrictJson } from "./json-text.ts";
import { isCleanGateLine } from "./quality-gate.ts";
import { clip, ITEM_CHARS, present, type Reading, type Signing, unreadable, WORD_CHARS } from "./reading.ts";
import { createFieldReader, isList, isObject } from "./report-fields.ts";
import { agentFields, type FindingIds, NONCE_FIELD, object, routerFields, wordsOf } from "./submission-fields.ts";
import { optional } from "../optional.ts";

const MAX_ROWS = 200;

/** `signs`: the submission must carry the attempt's nonce, so that the place's token alone is never enough. */
export function submissionSchema(
  flow: Flow,
  stage: WorkStage,
  knownAgents: readonly string[],
  signs = false,
  findingIds: FindingIds = [],
): JsonObject {
  const fields = stage.kind === "router" ? routerFields(knownAgents) : agentFields(flow, stage, findingIds);
  return object({ ...fields, nonce: NONCE_FIELD }, ["summary", ...(signs ? ["nonce"] : [])]);
}

/** The same for structured output of a runner: every key is required, optional ones may be null (OpenAI's strict mode). */
export function nativeSchema(
  flow: Flow,
  stage: WorkStage,
  knownAgents: readonly string[],
  signs = false,
  findingIds: readonly string[] = [],
): JsonObject {
  return strict(submissionSchema(flow, stage, knownAgents, signs, findingIds));
}

/** The submission as a report. `null` counts as absent, so both shapes are read alike. */
export function readSubmission(
  text: string,
  flow: Flow,
  stage: WorkStage,
  knownAgents: readonly string[],
  signing: Signing = { nonce: "", required: false },
  findingIds: readonly string[] = [],
): Reading {
  const parsed = parseStrictJson(text, JSON_LIMITS);
  if (!parsed.ok) return parsed;
  const faults = schemaFaults(submissionSchema(flow, stage, knownAgents, signing.required, findingIds), parsed.value);
  if (faults.length > 0 || !isObject(parsed.value)) {
    return unreadable("verdict_field_invalid", clip(faults.join(" "), ITEM_CHARS));
  }
  const given = withoutNulls(parsed.value);
  if (signing.nonce !== "" && given["nonce"] !== undefined && given["nonce"] !== signing.nonce)
    return unreadable("verdict_stale", '"nonce" is not the one of this attempt: copy it from your last prompt.');
  const contradiction = whatIsWrong(flow, stage, given);
  if (contradiction !== undefined) return unreadable(contradiction.code, contradiction.message);
  const rows = readRows(given);
  if ("wrong" in rows) return unreadable("verdict_field_invalid", rows.wrong);

  const fields = createFieldReader(given);
  const payload = { ...withoutNulls(fields.object("payload") ?? {}), ...rows.payload };
  const report: { [K in keyof Report]: Report[K] | undefined } = {
    verdict: fields.verdict(),
    health: fields.text("health", WORD_CHARS),
    reason: fields.text("reason"),
    score: fields.score(),
    issues: fields.issues(),
    findings: fields.findings(),
    questions: fields.questions(),
    summary: fields.text("summary"),
    stages: fields.stages(),
    blame: fields.blame(),
    payload: Object.keys(payload).length > 0 ? payload : undefined,
    path: fields.path("handoff_path"),
    claimed: fields.claimed(),
    structured: true,
    warnings: fields.warnings(),
  };
  const fault = fields.fault();
  return fault ? unreadable(fault.code, fault.message) : ok(present(report));
}

type Wrong = { readonly code: "verdict_missing" | "verdict_field_invalid"; readonly message: string };

/** Checks that single fields cannot express: a verdict belongs to finished work, a reason to unfinished work. */
function whatIsWrong(flow: Flow, stage: WorkStage, given: JsonObject): Wrong | undefined {
  if (textOf(given["summary"]).trim() === "") return invalid('"summary" is empty.');
  const health = textOf(given["health"]) || "complete";
  if (health !== "complete") {
    if (given["verdict"] !== undefined)
      return invalid(`"verdict" is only for finished work: leave it out, or "health" is not "${health}".`);
    const asks = isList(given["questions"]) && given["questions"].length > 0;
    return textOf(given["reason"]).trim() === "" && !(health === "blocked" && asks)
      ? invalid(`"health" is "${health}": "reason" must say why${health === "blocked" ? ', or "questions" ask' : ""}.`)
      : undefined;
  }
  if (stage.kind === "router" && given["stages"] === undefined) return invalid('"stages" is missing.');
  if (!stage.expectsVerdict || given["verdict"] !== undefined) return undefined;
  const words = wordsOf(flow, stage).join(", ");
  const message = `"verdict" is missing: give exactly one of ${words}, or "health" blocked, failed or incomplete with a "reason".`;
  return { code: "verdict_missing", message };
}

function invalid(message: string): Wrong {
  return { code: "verdict_field_invalid", message };
}

/**
 * Rows of gates and DoD in the shape of a handoff file. Whether a gate is clean comes from the tool's own line, not from the agent's claim.
 */
function readRows(given: JsonObject): { readonly payload: JsonObject } | { readonly wrong: string } {
  for (const key of ["dod", "gates"]) {
    const rows = rowsOf(given[key]);
    if (rows.length > MAX_ROWS)
      return { wrong: `"${key}" has ${rows.length} entries; at most ${MAX_ROWS} are allowed.` };
    const long = rows.findIndex((row) => Object.values(row).some((value) => textOf(value).length > ITEM_CHARS));
    if (long >= 0) return { wrong: `A text in "${key}[${long}]" is longer than ${ITEM_CHARS} characters.` };
  }
  const dod = rowsOf(given["dod"]).map((row): JsonObject => {
    const mark: DodMark = row["met"] === true ? "✓" : "✗";
    return { mark, row: textOf(row["criterion"]), evidence: textOf(row["evidence"]) };
  });
  const gates = rowsOf(given["gates"]).map((row): JsonObject => {
    const line = `${textOf(row["name"])}: ${textOf(row["evidence"])}`;
    const clean = row["passed"] === true && (row["exit_code"] ?? 0) === 0 && isCleanGateLine(line);
    return { ...withoutNulls(row), line, clean };
  });
  const met = dod.filter(({ mark }) => mark === "✓").length;
  const dodCounts = { met, missing: dod.length - met, tester: 0, other: 0 };
  return {
    payload: {
      ...(dod.length > 0 ? { dod, dod_counts: dodCounts } : {}),
      ...(gates.length > 0 ? { gates } : {}),
    },
  };
}

function rowsOf(value: Json | undefined): readonly JsonObject[] {
  return isList(value) ? value.filter(isObject) : [];
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}

function withoutNulls(given: JsonObject): JsonObject {
  const kept = Object.entries(given).filter(([, value]) => value !== null);
  return Object.fromEntries(kept.map(([key, value]) => [key, isObject(value) ? withoutNulls(value) : value]));
}

function strict(schema: JsonObject): JsonObject {
  const { properties, items, required, anyOf } = schema;
  if (isList(anyOf)) return { ...schema, anyOf: anyOf.map((each) => (isObject(each) ? strict(each) : each)) };
  if (isObject(items)) return { ...schema, items: strict(items) };
  if (!isObject(properties)) return schema;
  const kept = isList(required) ? required : [];
  const all = Object.entries(properties).map(([key, value]): [string, JsonObject] => {
    const inner = strict(isObject(value) ? value : {});
    return [key, kept.includes(key) ? inner : orNull(inner)];
  });
  return { ...schema, properties: Object.fromEntries(all), required: all.map(([key]) => key) };
}

function orNull({ description, ...schema }: JsonObject): JsonObject {
  const choices = isList(schema["anyOf"]) ? schema["anyOf"] : [schema];
  return { ...optional({ description }), anyOf: [...choices, { type: "null" }] };
}
