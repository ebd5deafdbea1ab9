// Reads an agent's options that are stored as plain data. Commands that only look at runs read them too, so no schema library does it: to
// load one takes longer than the rest of such a command. The test compares this reader with the schema of agent-options.ts.

import type { WrittenOptions } from "./agent-options.ts";
import { EFFORTS, LADDER_RUNNERS, RUNNERS } from "./runner-names.ts";

/** Nothing if one value does not fit: a running run must stay readable. */
export function storedOptions(value: unknown): WrittenOptions {
  if (!isRecord(value)) return {};
  const given = Object.entries(FITS).filter(([key]) => value[key] !== undefined);
  if (!given.every(([key, fits]) => fits(value[key]))) return {};
  return Object.fromEntries(given.map(([key]) => [key, value[key]]));
}

type Fits = (value: unknown) => boolean;

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const isText: Fits = (value) => typeof value === "string";
const isFilled: Fits = (value) => typeof value === "string" && value !== "";
const oneOf =
  (...words: readonly unknown[]): Fits =>
  (value) =>
    words.includes(value);
const listOf =
  (fits: Fits, atLeast = 0): Fits =>
  (value) =>
    Array.isArray(value) && value.length >= atLeast && value.every(fits);
const recordOf =
  (fits: Fits, key: RegExp = /^/u): Fits =>
  (value) =>
    isRecord(value) && Object.entries(value).every(([name, item]) => key.test(name) && fits(item));
const numberWithin =
  (above: number, atMost: number): Fits =>
  (value) =>
    typeof value === "number" && value > above && value <= atMost;

const isToolList: Fits = (value) =>
  listOf((name) => isFilled(name) && String(name).length <= 200)(value) && (value as readonly unknown[]).length <= 200;

const isServer: Fits = (value) => {
  if (!isRecord(value)) return false;
  const { command, env, url, headers, ...others } = value;
  const isNamed = (record: unknown): boolean => record === undefined || recordOf(isText)(record);
  if (Object.keys(others).length > 0) return false;
  if ("command" in value)
    return listOf(isFilled, 1)(command) && isNamed(env) && !("url" in value) && !("headers" in value);
  return isAddress(url) && isNamed(headers) && !("env" in value);
};

const isAddress: Fits = (value) => typeof value === "string" && /^https?:$/u.test(URL.parse(value)?.protocol ?? "");

const isRung: Fits = (value) => {
  if (!isRecord(value)) return oneOf(...LADDER_RUNNERS)(value);
  const { runner, model, effort, ...others } = value;
  const isModel = model === undefined || (typeof model === "string" && model !== "" && model.length <= 100);
  const isKnown = oneOf(...LADDER_RUNNERS)(runner) && (effort === undefined || oneOf(...EFFORTS)(effort));
  return isKnown && isModel && Object.keys(others).length === 0;
};
const isLadder: Fits = (value) => listOf(isRung, 2)(value) && (value as readonly unknown[]).length <= 8;

const FITS: Readonly<Record<keyof WrittenOptions, Fits>> = {
  runner: (value) => oneOf(...RUNNERS)(value) || isLadder(value),
  transport: oneOf("acp", "native"),
  effort: oneOf(...EFFORTS),
  tools: isToolList,
  deny_tools: isToolList,
  permission: oneOf("read", "edit", "full", "ask"),
  max_cost: numberWithin(0, 10_000),
  system_prompt: (value) => isFilled(value) && String(value).length <= 50_000,
  mcp: recordOf(isServer, /^[a-z][a-z0-9_-]{0,39}$/u),
  teams: oneOf(true, false),
  session: oneOf("fresh", "clean", "resume"),
  questions: oneOf("ask", "deny"),
  model: isText,
  command: listOf(isText),
  max_turns: (value) => Number.isInteger(value) && numberWithin(0, 10_000)(value),
};
