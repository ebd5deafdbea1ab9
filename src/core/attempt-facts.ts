// The facts stored with an attempt while it works, parsed from JSON in one place. An attempt writes them one by one and a crash can cut it
// off, so each may be missing.

import type { Usage } from "./budget/usage.ts";
import { type Enclosure, enclosureOf } from "./flow/enclosure.ts";
import type { Json, JsonObject } from "./json.ts";
import type { TakenRung } from "./flow/ladder.ts";

export type AttemptFacts = {
  /** The process that played the agent; used to find processes left by a crash. */
  readonly process: {
    readonly pid: number;
    readonly startTime: string;
    readonly marker: string;
    /** The folder of the cgroup that holds its processes; absent where something else does. */
    readonly cgroup?: string;
  } | null;
  /** The enclosure of its processes; null in a sandbox, and in records of older versions. */
  readonly enclosure: Enclosure | null;
  /** Processes that it left in its folder, and that could not be ended for certain. */
  readonly strays: readonly { readonly pid: number; readonly startTime: string; readonly name: string }[];
  /** The process of its own that carries out the attempt; null where the engine does. */
  readonly carrier: { readonly id: string; readonly pid: number; readonly startTime: string } | null;
  /** The claim under which a worker carries out the attempt; null where this machine does. */
  readonly claim: {
    readonly id: string;
    readonly worker: string;
    readonly key: string;
    readonly branch: string;
    readonly mode: string;
    readonly from: string;
    readonly project: string;
    readonly token: string;
  } | null;
  /** Why the program ended; null while it runs, or if Passrail did not see it end. */
  readonly ended: string | null;
  /** The same in words. */
  readonly detail: string | null;
  readonly exitCode: number | null;
  /** Null for builtins and for work done outside. */
  readonly runner: string | null;
  /** The program with its arguments; null unless the command runner played the agent. */
  readonly command: string | null;
  /** Whether that was the flow's own command for the stage; null if it is not recorded. */
  readonly ownCommand: boolean | null;
  readonly model: string | null;
  /** The pool that paid; null where that is not known. */
  readonly account: string | null;
  /** The rung of its ladder; null for a stage without one. */
  readonly rung: TakenRung | null;
  readonly toolCalls: number | null;
  readonly usage: Usage | null;
  /** The time that the agent's program says it took. */
  readonly reportedMs: number | null;
  readonly session: { readonly id: string; readonly totals: Usage | null } | null;
  /** The total usage of that session when the attempt resumed it; null for a new one. */
  readonly sessionBefore: Usage | null;
  /** The size of the further request that the program would have made if it had not been ended at its verdict. */
  readonly sparedTokens: number | null;
  /** The file with its output. */
  readonly output: string | null;
  readonly workspace: string | null;
  /** The kind of workspace that its program ran in. */
  readonly mode: string | null;
  readonly repository: string | null;
  readonly branch: string | null;
  /** The commits before and after it. */
  readonly from: string | null;
  readonly to: string | null;
  /** All commits in between, oldest first; only the newest if there are many. */
  readonly commits: readonly string[];
  readonly files: readonly string[];
  readonly repaired: boolean;
  /** Per stage, whether the agent may rely on its quality gates. */
  readonly trust: readonly TrustFact[];
  /** The person's answer that the attempt was started with. */
  readonly answer: string | null;
  /** Questions that a person answered while its agent waited. */
  readonly answers: readonly { readonly question: string; readonly answer: string }[];
  /** The payload with which an outside worker accepted the handoff. */
  readonly accepted: { readonly handoff: number; readonly payload: JsonObject } | null;
  /** When an outside worker last said that it works. */
  readonly lastSign: string | null;
};

export type TrustFact = {
  readonly stage: string;
  readonly iteration: number;
  readonly trusted: boolean;
  readonly reasons: readonly string[];
  /** The basis of the answer; empty in records of older versions. */
  readonly basis: string;
};

export function attemptFacts({ facts }: { readonly facts: JsonObject }): AttemptFacts {
  return {
    process: processOf(facts["process"]),
    enclosure: enclosureOf(objectOf(facts["process"])["enclosure"]),
    strays: listOf(facts["strays"]).flatMap(strayOf),
    carrier: carrierOf(facts["carrier"]),
    claim: claimOf(facts["claim"]),
    ended: textOf(facts["ended"]),
    detail: textOf(facts["detail"]),
    exitCode: numberOf(facts["exitCode"]),
    runner: textOf(facts["runner"]),
    command: textOf(facts["command"]),
    ownCommand: typeof facts["ownCommand"] === "boolean" ? facts["ownCommand"] : null,
    model: textOf(facts["model"]),
    account: textOf(facts["account"]),
    rung: rungOf(facts["rung"]),
    toolCalls: numberOf(facts["toolCalls"]),
    usage: usageOf(facts["usage"]),
    reportedMs: numberOf(facts["reportedMs"]),
    session: sessionOf(facts["session"]),
    sessionBefore: usageOf(facts["sessionBefore"]),
    sparedTokens: numberOf(facts["sparedTokens"]),
    output: textOf(facts["output"]),
    workspace: textOf(facts["workspace"]),
    mode: textOf(facts["mode"]),
    repository: textOf(facts["repository"]),
    branch: textOf(facts["branch"]),
    from: textOf(facts["from"]),
    to: textOf(facts["to"]),
    commits: textsOf(facts["commits"]),
    files: textsOf(facts["files"]),
    repaired: facts["repaired"] === true,
    trust: listOf(facts["trust"]).flatMap(trustOf),
    answer: typeof facts["answer"] === "string" ? facts["answer"] : null,
    answers: listOf(facts["answers"]).flatMap(answerOf),
    accepted: acceptedOf(facts["accepted"]),
    lastSign: signOf(facts),
  };
}

function processOf(value: Json | undefined): AttemptFacts["process"] {
  const { pid, startTime, marker, cgroup } = objectOf(value);
  if (typeof pid !== "number") return null;
  const known = { pid, startTime: textOf(startTime) ?? "", marker: textOf(marker) ?? "" };
  return typeof cgroup === "string" ? { ...known, cgroup } : known;
}

function answerOf(value: Json): AttemptFacts["answers"] {
  const { question, answer } = objectOf(value);
  return typeof question === "string" && typeof answer === "string" ? [{ question, answer }] : [];
}

function strayOf(value: Json): AttemptFacts["strays"] {
  const { pid, startTime, name } = objectOf(value);
  return typeof pid === "number" ? [{ pid, startTime: textOf(startTime) ?? "", name: textOf(name) ?? "unknown" }] : [];
}

function carrierOf(value: Json | undefined): AttemptFacts["carrier"] {
  const { id, pid, startTime } = objectOf(value);
  return typeof id === "string" && typeof pid === "number" ? { id, pid, startTime: textOf(startTime) ?? "" } : null;
}

function claimOf(value: Json | undefined): AttemptFacts["claim"] {
  const { id, worker, ...rest } = objectOf(value);
  if (typeof id !== "string" || typeof worker !== "string") return null;
  const text = (name: string): string => textOf(rest[name]) ?? "";
  const [key, mode, from, project, token] = [text("key"), text("mode"), text("from"), text("project"), text("token")];
  return { id, worker, key, branch: text("branch"), mode, from, project, token };
}

function usageOf(value: Json | undefined): Usage | null {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return null;
  const { usd, inputTokens, outputTokens, cachedTokens } = value as JsonObject;
  return {
    usd: numberOf(usd),
    inputTokens: numberOf(inputTokens),
    outputTokens: numberOf(outputTokens),
    cachedTokens: numberOf(cachedTokens),
  };
}

function sessionOf(value: Json | undefined): AttemptFacts["session"] {
  const { id, totals } = objectOf(value);
  return typeof id === "string" ? { id, totals: usageOf(totals) } : null;
}

function trustOf(value: Json): readonly TrustFact[] {
  if (value === null || typeof value !== "object" || Array.isArray(value)) return [];
  const { stage, iteration, trusted, reasons, basis } = value as JsonObject;
  return [
    {
      stage: textOf(stage) ?? "",
      iteration: numberOf(iteration) ?? 0,
      trusted: trusted === true,
      reasons: textsOf(reasons),
      basis: textOf(basis) ?? "",
    },
  ];
}

function rungOf(value: Json | undefined): TakenRung | null {
  const { number, of, passed } = objectOf(value);
  if (typeof number !== "number" || typeof of !== "number") return null;
  const over = listOf(passed).map((each) => {
    const { runner, cause, until } = objectOf(each);
    return { runner: textOf(runner) ?? "", cause: textOf(cause) ?? "", until: textOf(until) };
  });
  return { number, of, passed: over };
}

function acceptedOf(value: Json | undefined): AttemptFacts["accepted"] {
  const { handoff, payload } = objectOf(value);
  return typeof handoff === "number" ? { handoff, payload: objectOf(payload) } : null;
}

/** A heartbeat, or a report of progress, whichever came last. */
function signOf(facts: JsonObject): string | null {
  const signs = [facts["heartbeat"], facts["progress"]].map((sign) => textOf(objectOf(sign)["at"]) ?? "");
  return textOf(signs.toSorted().at(-1));
}

function objectOf(value: Json | undefined): JsonObject {
  return value === null || typeof value !== "object" || Array.isArray(value) ? {} : (value as JsonObject);
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}

function textsOf(value: Json | undefined): readonly string[] {
  return listOf(value).filter((each) => typeof each === "string");
}

function numberOf(value: Json | undefined): number | null {
  return typeof value === "number" ? value : null;
}

/** An empty text counts as missing. */
function textOf(value: Json | undefined): string | null {
  return typeof value === "string" && value !== "" ? value : null;
}
