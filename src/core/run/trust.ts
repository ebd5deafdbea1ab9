// Source 002's trust contract: whether the tester may rely on the quality gates that the developer already ran. Computed from the attempts'
// outcomes, never from claims about trust; missing or unreadable evidence is not trusted.

import type { Flow, WorkStage } from "../flow/flow.ts";
import type { Json, JsonObject } from "../json.ts";
import { isWork } from "./sequence.ts";

export type TrustConditions = {
  /** The handoff is from the developer's latest iteration. */
  readonly isLatest: boolean;
  /** It lists gates, and every one of them is clean. */
  readonly isClean: boolean;
  /** A later stage asked for code changes. */
  readonly askedLater: boolean;
};

export type Trust = { readonly trusted: boolean; readonly reasons: readonly string[] };

export function trust({ isLatest, isClean, askedLater }: TrustConditions): Trust {
  const reasons = [
    ...(isLatest ? [] : ["the handoff is not from the developer's latest iteration"]),
    ...(isClean ? [] : ["not every line of its Quality-Gate Results is clean"]),
    ...(askedLater ? ["changes were asked for after it, and no developer iteration followed"] : []),
  ];
  return { trusted: reasons.length === 0, reasons };
}

/** The columns of an attempt that this view needs; a stored attempt has them. Oldest first. */
export type TrustAttempt = {
  readonly stage: string;
  readonly attempt: number;
  readonly status: "ready" | "running" | "done" | "interrupted" | "canceled";
  readonly outcome: JsonObject | null;
};

export type DeveloperTrust = Trust & { readonly stage: string; readonly iteration: number };

const NEVER = "this flow never relies on the gates of others";
const GATES_SECTION = "## Quality-Gate Results";

/** One answer per stage that reports gates (one developer, or one per track), by the rule of the stage that asks. */
export function gateTrust(
  flow: Flow,
  attempts: readonly TrustAttempt[],
  rule: NonNullable<WorkStage["gates"]>["trust"] = "developer-latest-clean",
): readonly DeveloperTrust[] {
  const stages = flow.stages.flatMap((stage): readonly WorkStage[] => {
    if (stage.kind === "parallel") return Object.values(stage.tracks).flatMap((track) => track.stages);
    return isWork(stage) ? [stage] : [];
  });
  return stages
    .filter((stage) => stage.produces.includes(GATES_SECTION))
    .map((developer) => {
      const found = trustIn(developer, stages, flow, attempts);
      return rule === "never" ? { ...found, trusted: false, reasons: [NEVER] } : found;
    });
}

function trustIn(
  developer: WorkStage,
  stages: readonly WorkStage[],
  flow: Flow,
  attempts: readonly TrustAttempt[],
): DeveloperTrust {
  const own = attempts.filter(({ stage }) => stage === developer.id);
  const handoff = own.findLast(isComplete);
  const judges = new Set(stages.filter((stage) => sendsTo(flow, stage, developer)).map(({ id }) => id));
  const later = handoff === undefined ? [] : attempts.slice(attempts.indexOf(handoff) + 1);
  const found = trust({
    isLatest: handoff !== undefined && handoff === own.at(-1),
    isClean: handoff !== undefined && areGatesClean(handoff.outcome?.["payload"]),
    askedLater: later.some((attempt) => judges.has(attempt.stage) && asksForChanges(attempt)),
  });
  return { ...found, stage: developer.id, iteration: handoff?.attempt ?? 0 };
}

/** Whether a stage's route back leads to the developer, directly or through the parallel stage that holds it. */
function sendsTo(flow: Flow, stage: WorkStage, developer: WorkStage): boolean {
  const goto = stage.route["revise"]?.goto;
  if (goto === developer.id) return true;
  const target = flow.stages.find(({ id }) => id === goto);
  if (target?.kind !== "parallel") return false;
  return Object.values(target.tracks).some((track) => track.stages.some(({ id }) => id === developer.id));
}

function isComplete({ status, outcome }: TrustAttempt): boolean {
  return status === "done" && outcome?.["health"] === "complete";
}

function asksForChanges(attempt: TrustAttempt): boolean {
  return isComplete(attempt) && attempt.outcome?.["verdict"] !== "pass";
}

function areGatesClean(payload: Json | undefined): boolean {
  const gates = isObject(payload) ? payload["gates"] : undefined;
  if (!Array.isArray(gates) || gates.length === 0) return false;
  return (gates as readonly Json[]).every((gate) => isObject(gate) && gate["clean"] === true);
}

function isObject(value: Json | undefined): value is JsonObject {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

const GATE_WORDS: Readonly<Record<string, string>> = {
  "own-tests": "your own new tests",
  "one-full-suite": "the full suite once at the end",
  "all-gates": "every quality gate from scratch",
};

/** The same for the tester's prompt: the gates to run, and the condition that failed. */
export function trustText(gates: NonNullable<WorkStage["gates"]>, found: readonly DeveloperTrust[]): string {
  return found
    .map(({ stage, iteration, trusted, reasons }) => {
      const run = (names: readonly string[]) => names.map((name) => GATE_WORDS[name] ?? name).join(", ");
      const which = iteration === 0 ? stage : `${stage}, iteration ${iteration}`;
      if (trusted) return `Quality gates of ${which}: trusted. Run ${run(gates.when_trusted ?? [])}.`;
      return `Quality gates of ${which}: not trusted, because ${reasons.join("; ")}. Run ${run(gates.otherwise ?? [])}.`;
    })
    .join("\n");
}
