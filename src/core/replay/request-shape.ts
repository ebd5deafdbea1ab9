// The course of a conversation that a request carries: who spoke, which tools were called, without the texts. A recorded answer fits only a
// request of the same course. And the request's texts without what differs between two runs of the same program, to see what else differs.

import { canonicalJson, type Json, type JsonObject } from "../json.ts";

/** Two requests with the same text here are at the same point of the same conversation. */
export function shapeOf(method: string, path: string, body: Json | undefined): string {
  const asked = objectOf(body);
  const course = [asked["messages"], asked["input"], asked["contents"]].find(Array.isArray) as
    | readonly Json[]
    | undefined;
  return [
    method,
    path.split("?", 1)[0] ?? "",
    textOf(asked["model"]),
    ...collapsed((course ?? []).flatMap(stepsOf)),
  ].join("\n");
}

/** A program may cut one text into several, or add a reminder beside it. */
function collapsed(steps: readonly string[]): readonly string[] {
  return steps.filter((step, at) => step !== steps[at - 1]);
}

function stepsOf(item: Json): readonly string[] {
  const { role, type, content, parts, tool_calls: calls, tool_call_id: answered } = objectOf(item);
  const who = textOf(role) || textOf(type);
  // OpenAI's list has calls and their outputs beside messages.
  if (role === undefined && typeof type === "string") return [callOf(objectOf(item), type)];
  if (typeof answered === "string") return [`result ${answered}`];
  const said = listOf(content ?? parts).flatMap((part) => partOf(who, objectOf(part)));
  return [...(said.length === 0 ? [who] : said), ...listOf(calls).map((call) => chatCall(objectOf(call)))];
}

function partOf(who: string, part: JsonObject): readonly string[] {
  const { type, functionCall, functionResponse } = part;
  if (type === "tool_use") return [`call ${textOf(part["id"])} ${textOf(part["name"])}`];
  if (type === "tool_result") return [`result ${textOf(part["tool_use_id"])}`];
  if (functionCall !== undefined) return [`call ${textOf(objectOf(functionCall)["name"])}`];
  if (functionResponse !== undefined) return [`result ${textOf(objectOf(functionResponse)["name"])}`];
  return [who];
}

/** A model's thoughts are no step: programs may leave them out. */
function callOf(item: JsonObject, type: string): string {
  return type === "reasoning" ? "assistant" : `${type} ${textOf(item["call_id"])} ${textOf(item["name"])}`;
}

function chatCall(call: JsonObject): string {
  return `call ${textOf(call["id"])} ${textOf(objectOf(call["function"])["name"])}`;
}

/** Where a program says who and when it is, not what it wants. */
const VOLATILE_KEYS: ReadonlySet<string> = new Set([
  "metadata",
  "client_metadata",
  "prompt_cache_key",
  "safety_identifier",
  "session_id",
  "cache_control",
  "user",
]);

const DAY = "(?:Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(?:day)?";
const MONTH =
  "(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sep(?:tember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)";

/** Times, ids, numbers of processes, hashes of commits, ports, durations. */
const VOLATILE_TEXTS: readonly (readonly [RegExp, string])[] = [
  [/(?<![0-9a-f])[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?![0-9a-f])/giu, "<id>"],
  [/\bChunk ID: [0-9a-f]{1,16}\b/gu, "<id>"],
  // Gemini CLI numbers the folders that it keeps for projects of the same name.
  [/\.gemini\/tmp\/[A-Za-z0-9_.-]{1,100}/gu, ".gemini/tmp/<project>"],
  [/\bses_[A-Za-z0-9]{8,64}/gu, "<id>"],
  [
    /\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?: ?(?:Z|[+-]\d{2}:?\d{2}))?)?(?![0-9])/gu,
    "<time>",
  ],
  [new RegExp(String.raw`\b${DAY},? ${MONTH} \d{1,2},? \d{4}\b`, "gu"), "<time>"],
  [new RegExp(String.raw`\b${MONTH} \d{1,2} \d{2}:\d{2}\b`, "gu"), "<time>"],
  [/\b\d{1,2}:\d{2}(?::\d{2})?(?:\.\d{1,9})?\b/gu, "<time>"],
  [/\b(?:PGID|PID|pid)\b[: =]{1,3}\d{1,10}\b/gu, "<process>"],
  [/\b[0-9a-f]{7,64}\b/gu, "<hash>"],
  [/\b(?:127\.0\.0\.1|localhost):\d{2,5}\b/gu, "<address>"],
  [/\b\d{1,9}(?:\.\d{1,9})? ?(?:ms|s|sec|seconds?)\b/gu, "<duration>"],
];

/** Every text of the request by where it is, without what is another each time. `named` replaces the places of the attempt. */
export function textsOf(body: Json | undefined, named: (text: string) => string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const visit = (value: Json | undefined, at: string): void => {
    if (Array.isArray(value)) for (const [index, each] of value.entries()) visit(each, `${at}/${index}`);
    else if (value !== null && typeof value === "object")
      for (const [key, each] of Object.entries(value as JsonObject))
        if (!VOLATILE_KEYS.has(key)) visit(each, `${at}/${key}`);
    if (value === undefined || (typeof value === "object" && value !== null)) return;
    found.set(at, typeof value === "string" ? steadyText(named(value)) : canonicalJson(value));
  };
  visit(body, "");
  return found;
}

export function steadyText(text: string): string {
  return VOLATILE_TEXTS.reduce((changed, [pattern, name]) => changed.replace(pattern, name), text);
}

function objectOf(value: Json | undefined): JsonObject {
  return value === null || typeof value !== "object" || Array.isArray(value) ? {} : (value as JsonObject);
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
}
