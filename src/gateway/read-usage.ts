// What an answer of a model used, as the vendor tells it at its end or in its beginning: whole, or as a stream of events. All of it is
// doubtful text; what cannot be read is unknown.

import type { Usage } from "../core/budget/usage.ts";
import { costOf } from "../runner/claude/prices.ts";
import { messageUsage } from "../runner/claude/usage.ts";
import { count, type Fields, fields, list, parseLine, text } from "../runner/loose-json.ts";
import type { ModelApi } from "./model-request.ts";

export type ReadUsage = { readonly model: string | null; readonly usage: Usage | null };

export function readUsage(api: ModelApi, body: string): ReadUsage {
  const parts = partsOf(body);
  switch (api) {
    case "anthropic":
      return anthropic(parts);
    case "responses":
      return responses(parts);
    case "chat":
      return chat(parts);
    case "gemini":
      return gemini(parts);
  }
}

/** The events of a stream that could tell something; or the one object. */
function partsOf(body: string): readonly Fields[] {
  const isStream = /^\s*(?:event|data|id|retry)?:/u.test(body.slice(0, 100));
  if (!isStream) {
    const whole = parseLine(body);
    return (Array.isArray(whole) ? list(whole) : [whole]).map(fields);
  }
  return body
    .split("\n")
    .filter((line) => line.startsWith("data:") && /usage/iu.test(line))
    .map((line) => fields(parseLine(line.slice(5))));
}

function anthropic(parts: readonly Fields[]): ReadUsage {
  const first = parts.find(({ type }) => type === "message_start" || type === "message") ?? {};
  const message = first["type"] === "message" ? first : fields(first["message"]);
  const model = text(message["model"]);
  const told = [message["usage"], ...parts.map((part) => (part["type"] === "message_delta" ? part["usage"] : {}))];
  const counts = told.reduce<Fields>((sum, each) => ({ ...sum, ...known(fields(each)) }), {});
  if (Object.keys(counts).length === 0) return { model, usage: null };
  return { model, usage: { ...messageUsage(counts), usd: costOf(model, counts) } };
}

/** A later event leaves out, or nulls, what an earlier one told. */
function known(counts: Fields): Fields {
  return Object.fromEntries(Object.entries(counts).filter(([, value]) => value !== null && value !== undefined));
}

function responses(parts: readonly Fields[]): ReadUsage {
  const last = parts
    .map((part) => (part["response"] === undefined ? part : fields(part["response"])))
    .findLast((part) => Object.keys(fields(part["usage"])).length > 0);
  const counts = fields(last?.["usage"]);
  const details = fields(counts["input_tokens_details"]);
  return counted(last, counts["input_tokens"], counts["output_tokens"], details["cached_tokens"]);
}

function chat(parts: readonly Fields[]): ReadUsage {
  const last = parts.findLast((part) => Object.keys(fields(part["usage"])).length > 0);
  const counts = fields(last?.["usage"]);
  const details = fields(counts["prompt_tokens_details"]);
  return counted(last, counts["prompt_tokens"], counts["completion_tokens"], details["cached_tokens"]);
}

function gemini(parts: readonly Fields[]): ReadUsage {
  const last = parts.findLast((part) => Object.keys(fields(part["usageMetadata"])).length > 0);
  const counts = fields(last?.["usageMetadata"]);
  const thought = count(counts["thoughtsTokenCount"]) ?? 0;
  const said = count(counts["candidatesTokenCount"]);
  const output = said === null ? null : said + thought;
  const { usage } = counted(last, counts["promptTokenCount"], output, counts["cachedContentTokenCount"]);
  return { model: text(last?.["modelVersion"]), usage };
}

/** Only Claude's prices are known here. */
function counted(part: Fields | undefined, input: unknown, output: unknown, cached: unknown): ReadUsage {
  const model = text(part?.["model"]);
  const [inputTokens, outputTokens] = [count(input), count(output)];
  if (inputTokens === null && outputTokens === null) return { model, usage: null };
  return { model, usage: { usd: null, inputTokens, outputTokens, cachedTokens: count(cached) } };
}
