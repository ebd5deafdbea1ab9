// Source 000's verdict: a JSON object with a `verdict` key in the agent's output, fenced or bare. The whole text is read.
// Text can be quoted or forged, so an object counts only if it belongs to this attempt (nonce, agent, subject) and nothing contradicts it.
// Loop, next agent and status are kept as claims.

import { canonicalJson, type JsonObject } from "../json.ts";
import { err, ok } from "../result.ts";
import { type BrokenJson, findJsonObjects } from "./json-scan.ts";
import { describeFault } from "./json-text.ts";
import {
  clip,
  MAX_BLOCKS,
  present,
  type Reading,
  type Signing,
  TEXT_CHARS,
  TOO_LONG,
  unreadable,
  WORD_CHARS,
} from "./reading.ts";
import { createFieldReader, isObject } from "./report-fields.ts";

export type JsonTailOptions = {
  /** This attempt's nonce. Required when `nonceRequired`; else an object with it wins over others. */
  readonly nonce?: string;
  readonly nonceRequired: boolean;
  readonly isQuoted?: Signing["isQuoted"];
  readonly require: readonly string[];
  readonly subjectId: string;
  readonly agent: string;
  /** Whether the flow gives its findings ids; a project's own key of that name means something else where it does not. */
  readonly tracksFindings?: boolean;
  /** Keys that name the subject, for example `feature_id`. */
  readonly subjectKeys: readonly string[];
};

type Block = { readonly start: number; readonly raw: string; readonly object: JsonObject };

export function readJsonTail(text: string, options: JsonTailOptions): Reading {
  if (options.nonceRequired && !options.nonce) throw new Error("readJsonTail: a required nonce was not given");
  // Most of a long output is noise: without the key there is no verdict in it.
  const times = countOf(text, "verdict");
  if (times > 0 && text.length > TEXT_CHARS) return err(TOO_LONG);
  if (times > MAX_KEYS) return tooMany(MAX_KEYS);
  const { found, broken } = times > 0 ? findJsonObjects(text, "verdict") : { found: [], broken: [] };
  const blocks: Block[] = [];
  for (const { start, end, value } of found) {
    if (isObject(value) && Object.hasOwn(value, "verdict"))
      blocks.push({ start, raw: text.slice(start, end), object: value });
  }
  if (blocks.length > MAX_BLOCKS) return tooMany(MAX_BLOCKS);
  const candidates = blocks.filter(({ raw }) => options.isQuoted?.(raw) !== true);
  // If the nonce occurs at all, the honest verdict is there: unsigned ones no longer count, even if the signed one is unreadable.
  const nonceAt = options.nonce ? text.lastIndexOf(options.nonce) : -1;
  if (options.nonceRequired || nonceAt !== -1) return readSigned(text, nonceAt, candidates, broken, options);
  const isAlone = blocks.length === 1 && broken.length === 0 && endsWith(text, blocks[0]);
  return readUnsigned(text, candidates, broken, isAlone ? withoutAgent(options) : options);
}

/**
 * The source's short form, `{ "verdict": "APPROVED", "handoff": "path" }`, names no agent. That is clear where the verdict carries this
 * attempt's nonce, or where it is the only one in the output and its last word. An agent that is named must still be this one.
 */
function withoutAgent(options: JsonTailOptions): JsonTailOptions {
  return { ...options, require: options.require.filter((key) => key !== "agent") };
}

/** Only the end of a fence follows. */
function endsWith(text: string, block: Block | undefined): boolean {
  return block !== undefined && /^\s{0,100}(?:`{3,8}|~{3,8})?\s*$/u.test(text.slice(block.start + block.raw.length));
}

/** A text that names verdicts this often is examined no further. */
const MAX_KEYS = 2000;

function tooMany(limit: number): Reading {
  return unreadable("verdict_ambiguous", `The output names verdicts more than ${limit} times. Give exactly one.`);
}

function countOf(text: string, word: string): number {
  let count = 0;
  for (let at = text.indexOf(word); at !== -1 && count <= MAX_KEYS; at = text.indexOf(word, at + word.length))
    count += 1;
  return count;
}

function readSigned(
  text: string,
  nonceAt: number,
  candidates: readonly Block[],
  broken: readonly BrokenJson[],
  options: JsonTailOptions,
): Reading {
  const signed = candidates.filter((candidate) => carriesNonce(candidate, options.nonce));
  const last = signed.at(-1);
  const fault = broken.findLast(({ start }) => start < nonceAt && start > (last?.start ?? -1));
  if (fault && nonceAt > (last ? last.start + last.raw.length : -1)) return invalid(text, fault);
  if (!last) {
    return candidates.length > 0
      ? unreadable(
          "verdict_unsigned",
          "A verdict was found, but none that carries this attempt's nonce as the prompt asks.",
        )
      : unreadable(
          "verdict_missing",
          "No JSON object with a verdict and this attempt's nonce was found in the output.",
        );
  }
  const first = canonicalJson(last.object);
  if (signed.some(({ object }) => canonicalJson(object) !== first)) {
    return unreadable("verdict_ambiguous", "Two verdicts carry this attempt's nonce and differ. Give exactly one.");
  }
  const foreign = whyForeign(last.object, options);
  return foreign === undefined
    ? toReading(last.object, withoutAgent(options))
    : unreadable("verdict_wrong_subject", foreign);
}

function readUnsigned(
  text: string,
  candidates: readonly Block[],
  broken: readonly BrokenJson[],
  options: JsonTailOptions,
): Reading {
  const ours = candidates.filter(({ object }) => whyForeign(object, options) === undefined);
  const last = ours.at(-1);
  const fault = broken.at(-1);
  if (fault && fault.start > (last?.start ?? -1)) return invalid(text, fault);
  if (!last) {
    const foreign = candidates.at(-1);
    const why = foreign && whyForeign(foreign.object, options);
    if (why !== undefined) return unreadable("verdict_wrong_subject", why);
    return unreadable("verdict_missing", 'No JSON object with a "verdict" key was found in the output.');
  }
  const word = canonicalJson(last.object.verdict);
  const other = ours.find(({ object }) => canonicalJson(object.verdict) !== word);
  if (other) {
    const words = `${show(other.object.verdict)} and ${show(last.object.verdict)}`;
    return unreadable("verdict_ambiguous", `The output holds verdicts that differ: ${words}. Give exactly one.`);
  }
  return toReading(last.object, options);
}

/** The nonce must be in the text literally: the prompt did not ask for an escaped spelling. */
function carriesNonce({ object, raw }: Block, nonce: string | undefined): boolean {
  return Boolean(nonce) && object.nonce === nonce && raw.includes(nonce ?? "");
}

/** Why the object is about another agent, subject or attempt; undefined if nothing in it says so. */
function whyForeign(object: JsonObject, options: JsonTailOptions): string | undefined {
  const { agent, nonce } = object;
  if (agent !== undefined && agent !== null && !sameName(agent, options.agent)) {
    return `The verdict names agent ${show(agent)}; this attempt's agent is ${show(options.agent)}.`;
  }
  for (const key of options.subjectKeys) {
    const value = object[key];
    if (value === undefined || value === null || value === options.subjectId) continue;
    return `The verdict's ${key} is ${show(value)}; this attempt's is ${show(options.subjectId)}.`;
  }
  if (options.nonce && nonce !== undefined && nonce !== null && nonce !== options.nonce) {
    return "The verdict carries the nonce of another attempt.";
  }
  return undefined;
}

function sameName(value: unknown, name: string): boolean {
  return typeof value === "string" && value.toLowerCase() === name.toLowerCase();
}

function show(value: unknown): string {
  return clip(canonicalJson(value), WORD_CHARS);
}

function invalid(text: string, { fault }: BrokenJson): Reading {
  return unreadable(fault.code, describeFault(text, fault));
}

/** `handoff` is the path in the short form; anything but a text is a key of the project's own. */
function shortPath(object: JsonObject): boolean {
  return (object["handoff_path"] ?? null) === null && typeof object["handoff"] === "string";
}

function toReading(object: JsonObject, { require, tracksFindings }: JsonTailOptions): Reading {
  const missing = require.filter((key) => !Object.hasOwn(object, key) || object[key] === null);
  if (missing.length > 0)
    return unreadable("verdict_field_invalid", `The verdict lacks ${missing.map((key) => `"${key}"`).join(", ")}.`);
  const fields = createFieldReader(object);
  const report = {
    verdict: fields.verdict(),
    health: fields.text("health", WORD_CHARS),
    score: fields.score(),
    reason: fields.text("reason"),
    summary: fields.text("summary"),
    issues: fields.issues(),
    findings: tracksFindings === true ? fields.findings() : undefined,
    questions: fields.questions(),
    blame: fields.blame(),
    path: fields.path(shortPath(object) ? "handoff" : "handoff_path"),
    claimed: fields.claimed(),
    payload: object,
    warnings: fields.warnings(),
  };
  const fault = fields.fault();
  return fault ? unreadable(fault.code, fault.message) : ok(present(report));
}
