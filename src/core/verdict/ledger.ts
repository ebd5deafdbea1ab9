// The verdict ledger of one attempt: every channel that said something is a candidate, and exactly one reading follows from all of them.
// The flow names the channel that decides. A candidate that disagrees makes the verdict ambiguous; none wins silently.

import type { Flow, WorkStage } from "../flow/flow.ts";
import { type Heard, type Report, routeKey } from "../flow/outcome.ts";
import { canonicalJson, type Json, type JsonObject } from "../json.ts";
import { err, ok } from "../result.ts";
import { judge } from "./judge.ts";
import { type Reading, unreadable } from "./reading.ts";

export const CHANNELS = ["desk", "native", "form", "verdict-file", "exit"] as const;
/** In the order in which they decide: the tool, the program's structured output, the form that the flow names, the verdict file, the exit. */
export type Channel = (typeof CHANNELS)[number];

export type Candidate = {
  readonly channel: Channel;
  /** Where it was found, in words: "the verdict file". */
  readonly place: string;
  /** Whether it carries this attempt's nonce, or comes by a way that only the program itself has. */
  readonly signed: boolean;
  readonly reading: Reading;
};

export type LedgerRules = {
  readonly flow: Flow;
  readonly stage: WorkStage;
  /** Whether a candidate without this attempt's nonce counts. */
  readonly nonce: "required" | "optional";
};

export type Ruling = {
  readonly reading: Reading;
  readonly heard: readonly Heard[];
  readonly warnings: readonly string[];
};

export function settle(rules: LedgerRules, candidates: readonly Candidate[]): Ruling {
  const spoke = candidates.filter(({ reading }) => reading.ok || reading.error.code !== "verdict_missing");
  const heard = spoke.map((each) => heardOf(rules, each));
  const counting = withoutNoise(spoke.filter((each) => each.signed || rules.nonce === "optional"));
  const deciding = first(counting);
  if (deciding === undefined) return { reading: silence(spoke, candidates), heard, warnings: [] };
  const others = withoutNoise(spoke).filter((each) => each !== deciding && each.channel !== "exit");
  const disputing = others.filter((each) => disagrees(rules, deciding, each));
  // An accepted call is final: the desk compared it with the files before it accepted, and later reports are only listed.
  if (disputing.length > 0 && deciding.channel !== "desk")
    return { reading: ambiguous(rules, [deciding, ...disputing]), heard, warnings: [] };
  const warnings = disputing.map(
    (each) => `verdict_disputed: ${saying(rules, each)}, after another verdict was accepted`,
  );
  return { reading: withHeard(deciding, counting), heard, warnings };
}

/** Prose can look like a broken verdict; it does not count if another channel has a readable one. */
function withoutNoise(candidates: readonly Candidate[]): readonly Candidate[] {
  const isNoise = ({ channel, signed, reading }: Candidate) => channel === "form" && !signed && !reading.ok;
  const clear = candidates.filter((each) => !isNoise(each));
  return clear.some(({ reading }) => reading.ok) ? clear : candidates;
}

function first(counting: readonly Candidate[]): Candidate | undefined {
  const ranked = CHANNELS.flatMap((channel) => counting.filter((each) => each.channel === channel));
  return ranked[0];
}

/** Equal in meaning: the same route, and for a router the same agents. An unreadable verdict agrees with no other. */
function disagrees(rules: LedgerRules, deciding: Candidate, other: Candidate): boolean {
  // Where the deciding text is unreadable, that is the fault to tell.
  if (!deciding.reading.ok) return false;
  return !other.reading.ok || !agrees(rules, deciding.reading.value, other.reading.value);
}

export function agrees(rules: LedgerRules, one: Report, other: Report): boolean {
  return meaningOf(rules, one) === meaningOf(rules, other) && clashingField(one, other) === undefined;
}

/** The field that two reports of one attempt tell differently. One that only one of them has contradicts nothing. */
export function clashingField(one: Report, other: Report): string | undefined {
  const fields: Readonly<Record<string, (report: Report) => string | undefined>> = {
    "quality gates": ({ payload }) => gatesSaid(payload?.["gates"]),
    "DoD rows": ({ payload }) => marksSaid(payload?.["dod"]),
    iteration: ({ claimed }) => (claimed?.loop === undefined ? undefined : String(claimed.loop)),
  };
  const found = Object.entries(fields).find(([, said]) => {
    const [here, there] = [said(one), said(other)];
    return here !== undefined && there !== undefined && here !== there;
  });
  return found?.[0];
}

/** Names and lines may be worded differently; whether every gate is clean may not. */
function gatesSaid(gates: Json | undefined): string | undefined {
  if (!Array.isArray(gates) || gates.length === 0) return undefined;
  return gates.every((gate: Json) => isRow(gate) && gate["clean"] === true) ? "clean" : "not clean";
}

function marksSaid(rows: Json | undefined): string | undefined {
  if (!Array.isArray(rows) || rows.length === 0) return undefined;
  return String(rows.filter((row: Json) => isRow(row) && row["mark"] === "✗").length);
}

function isRow(value: Json): value is JsonObject {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

function meaningOf({ flow, stage }: LedgerRules, report: Report): string {
  const outcome = judge(flow.words, stage, report);
  return canonicalJson([
    routeKey(outcome),
    outcome.cause ?? null,
    stage.kind === "router" ? (outcome.stages ?? []) : [],
  ]);
}

function silence(spoke: readonly Candidate[], candidates: readonly Candidate[]): Reading {
  const unsigned = spoke.find(({ reading }) => reading.ok);
  if (unsigned !== undefined)
    return unreadable(
      "verdict_unsigned",
      `${unsigned.place} has a verdict, but without this attempt's nonce as the prompt asks. Repeat it with the nonce.`,
    );
  const fault = [...spoke, ...candidates].find(({ reading }) => !reading.ok);
  return fault?.reading ?? unreadable("verdict_missing", "The attempt gave no verdict.");
}

function ambiguous(rules: LedgerRules, candidates: readonly Candidate[]): Reading {
  const said = candidates.map((each) => saying(rules, each)).join("; ");
  return unreadable("verdict_ambiguous", `Two channels disagree: ${said}. Give exactly one verdict.`);
}

function saying(rules: LedgerRules, candidate: Candidate): string {
  return `${candidate.place} says ${heardOf(rules, candidate).said}`;
}

function heardOf({ flow, stage }: LedgerRules, { channel, signed, reading }: Candidate): Heard {
  if (!reading.ok) return { by: channel, signed, said: reading.error.code };
  const outcome = judge(flow.words, stage, reading.value);
  return { by: channel, signed, said: outcome.word ?? outcome.cause ?? routeKey(outcome) };
}

/** Signed if one of those that agree is: the nonce proves the verdict on any channel. */
function withHeard({ channel, reading }: Candidate, counting: readonly Candidate[]): Reading {
  if (!reading.ok) return err(reading.error);
  const signed = counting.some((each) => each.signed && each.channel !== "exit") || channel === "exit";
  const said = reading.value.verdict ?? reading.value.health ?? "";
  return ok({ ...reading.value, heard: { by: channel, signed, said } });
}
