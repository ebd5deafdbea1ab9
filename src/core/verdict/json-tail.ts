// Source 000's verdict: a JSON object with a `verdict` key near the end of the agent's output, fenced or bare.
// Text can be quoted or forged, so an object counts only if it belongs to this attempt (nonce, agent, subject) and nothing contradicts it.
// Loop, next agent and status are kept as claims.

import { canonicalJson, type JsonObject } from "../json.ts";
import { ok } from "../result.ts";
import { type BrokenJson, findJsonObjects } from "./json-scan.ts";
import { describeFault } from "./json-text.ts";
import { clip, present, type Reading, TAIL_CHARS, unreadable, WORD_CHARS } from "./reading.ts";
import { createFieldReader, isObject } from "./report-fields.ts";

export type JsonTailOptions = {
  /** This attempt's nonce. Required when `nonceRequired`; else an object with it wins over others. */
  readonly nonce?: string;
  readonly nonceRequired: boolean;
  readonly require: readonly string[];
  readonly subjectId: string;
  readonly agent: string;
  /** Keys that name the subject, for example `feature_id`. */
  readonly subjectKeys: readonly string[];
};

type Candidate = { readonly start: number; readonly raw: string; readonly object: JsonObject };

export function readJsonTail(text: string, options: JsonTailOptions): Reading {
  if (options.nonceRequired && !options.nonce) throw new Error("readJsonTail: a required nonce was not given");
  const { found, broken } = findJsonObjects(text, "verdict");
  const candidates: Candidate[] = [];
  for (const { start, end, value } of found) {
    if (isObject(value) && Object.hasOwn(value, "verdict"))
      candidates.push({ start, raw: text.slice(start, end), object: value });
  }
  // If the nonce occurs at all, the honest verdict is there: unsigned ones no longer count, even if the signed one is unreadable.
  const nonceAt = lastInTail(text, options.nonce);
  if (options.nonceRequired || nonceAt !== -1) return readSigned(text, nonceAt, candidates, broken, options);
  return readUnsigned(text, candidates, broken, options);
}

function readSigned(
  text: string,
  nonceAt: number,
  candidates: readonly Candidate[],
  broken: readonly BrokenJson[],
  options: JsonTailOptions,
): Reading {
  const signed = candidates.filter((candidate) => carriesNonce(candidate, options.nonce));
  const last = signed.at(-1);
  const fault = broken.findLast(({ start }) => start < nonceAt && start > (last?.start ?? -1));
  if (fault && nonceAt > (last ? last.start + last.raw.length : -1)) return invalid(text, fault);
  if (!last) {
    const message =
      candidates.length > 0
        ? "A verdict was found, but none that carries this attempt's nonce as the prompt asks."
        : "No JSON object with a verdict and this attempt's nonce was found at the end of the output.";
    return unreadable("verdict_missing", message);
  }
  const first = canonicalJson(last.object);
  if (signed.some(({ object }) => canonicalJson(object) !== first)) {
    return unreadable("verdict_ambiguous", "Two verdicts carry this attempt's nonce and differ. Give exactly one.");
  }
  const foreign = whyForeign(last.object, options);
  return foreign === undefined ? toReading(last.object, options) : unreadable("verdict_wrong_subject", foreign);
}

function readUnsigned(
  text: string,
  candidates: readonly Candidate[],
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
    return unreadable("verdict_missing", 'No JSON object with a "verdict" key was found at the end of the output.');
  }
  const word = canonicalJson(last.object.verdict);
  const other = ours.find(({ object }) => canonicalJson(object.verdict) !== word);
  if (other) {
    const words = `${show(other.object.verdict)} and ${show(last.object.verdict)}`;
    return unreadable("verdict_ambiguous", `The output holds verdicts that differ: ${words}. Give exactly one.`);
  }
  return toReading(last.object, options);
}

function lastInTail(text: string, nonce: string | undefined): number {
  const from = Math.max(0, text.length - TAIL_CHARS);
  const at = nonce ? text.slice(from).lastIndexOf(nonce) : -1;
  return at === -1 ? -1 : from + at;
}

/** The nonce must be in the text literally: the prompt did not ask for an escaped spelling. */
function carriesNonce({ object, raw }: Candidate, nonce: string | undefined): boolean {
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

function toReading(object: JsonObject, { require }: JsonTailOptions): Reading {
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
    questions: fields.questions(),
    blame: fields.blame(),
    path: fields.path("handoff_path"),
    claimed: fields.claimed(),
    payload: object,
    warnings: fields.warnings(),
  };
  const fault = fields.fault();
  return fault ? unreadable(fault.code, fault.message) : ok(present(report));
}
