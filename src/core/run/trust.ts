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

const NOT_CLEAN = "not every line";

export function trust({ isLatest, isClean, askedLater }: TrustConditions): Trust {
  const reasons = [
    ...(isLatest ? [] : ["the handoff is not from the developer's latest iteration"]),
    ...(isClean ? [] : [`${NOT_CLEAN} of its Quality-Gate Results is clean`]),
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

export type DeveloperTrust = Trust & {
  readonly stage: string;
  readonly iteration: number;
  /** The basis of the answer, in words: Passrail's own checks of this tree, or the handoff's text. */
  readonly basis: string;
};

/** The files that the asking stage finds. */
export type TreeNow = { readonly commit: string | null; readonly tree: string | null };

const NEVER = "this flow never relies on the gates of others";
const GATES_SECTION = "## Quality-Gate Results";

/** One answer per stage that reports gates (one developer, or one per track), by the rule of the stage that asks. */
export function gateTrust(
  flow: Flow,
  attempts: readonly TrustAttempt[],
  rule: NonNullable<WorkStage["gates"]>["trust"] = "developer-latest-clean",
  now: TreeNow = { commit: null, tree: null },
): readonly DeveloperTrust[] {
  const stages = flow.stages.flatMap((stage): readonly WorkStage[] => {
    if (stage.kind === "parallel") return Object.values(stage.tracks).flatMap((track) => track.stages);
    return isWork(stage) ? [stage] : [];
  });
  return stages
    .filter((stage) => stage.produces.includes(GATES_SECTION))
    .map((developer) => {
      const found = trustIn(developer, { stages, flow, attempts, now });
      return rule === "never" ? { ...found, trusted: false, reasons: [NEVER] } : found;
    });
}

type TrustScene = {
  readonly stages: readonly WorkStage[];
  readonly flow: Flow;
  readonly attempts: readonly TrustAttempt[];
  readonly now: TreeNow;
};

function trustIn(developer: WorkStage, { stages, flow, attempts, now }: TrustScene): DeveloperTrust {
  const own = attempts.filter(({ stage }) => stage === developer.id);
  const handoff = own.findLast(isComplete);
  const judges = new Set(stages.filter((stage) => sendsTo(flow, stage, developer)).map(({ id }) => id));
  const later = handoff === undefined ? [] : attempts.slice(attempts.indexOf(handoff) + 1);
  const claimed = iterationIn(handoff);
  const isOther = claimed !== null && !iterationsOf(own, handoff, attempts, judges).includes(claimed);
  const { isClean, basis, doubts } = gatesOf(handoff, now);
  const found = trust({
    isLatest: handoff !== undefined && handoff === own.at(-1) && !isOther,
    isClean,
    askedLater: later.some((attempt) => judges.has(attempt.stage) && asksForChanges(attempt)),
  });
  const reasons = [
    ...found.reasons.filter((reason) => doubts.length === 0 || !reason.startsWith(NOT_CLEAN)),
    ...(isOther ? [`it names iteration ${claimed}, and it is iteration ${handoff?.attempt ?? 0}`] : []),
    ...doubts,
  ];
  return { trusted: reasons.length === 0, reasons, basis, stage: developer.id, iteration: handoff?.attempt ?? 0 };
}

type GateResults = {
  readonly isClean: boolean;
  readonly basis: string;
  /** Where Passrail's results and the handoff's text disagree. */
  readonly doubts: readonly string[];
};

/** Passrail's own checks of exactly these files count first; without any, the handoff's text. Sources that disagree are never clean. */
function gatesOf(handoff: TrustAttempt | undefined, now: TreeNow): GateResults {
  const reported = gatesIn(handoff?.outcome?.["payload"]);
  const saidClean = reported.length > 0 && reported.every(({ clean }) => clean);
  const checks = checksIn(handoff?.outcome?.["checks"]).filter(({ commit, tree }) => isNow({ commit, tree }, now));
  if (checks.length === 0) {
    const basis = "its report alone: Passrail ran no check on these files";
    return { isClean: saidClean, basis, doubts: [] };
  }
  const red = checks.filter(({ state }) => state !== "passed").map(({ name }) => name);
  const names = checks.map(({ name }) => name).join(", ");
  const basis = `Passrail ran ${names} on exactly these files`;
  const dirty = reported.filter(({ clean }) => !clean).map(({ name }) => name);
  if (red.length > 0)
    return {
      isClean: false,
      basis,
      doubts: [`Passrail's own ${red.join(", ")} did not pass${saidClean ? ", although the report is clean" : ""}`],
    };
  if (dirty.length > 0)
    return {
      isClean: false,
      basis,
      doubts: [`its report of ${dirty.join(", ")} is not clean, although ${basis}, and it passed`],
    };
  return { isClean: true, basis, doubts: [] };
}

function isNow({ commit, tree }: TreeNow, now: TreeNow): boolean {
  return (commit !== null && commit === now.commit) || (tree !== null && tree === now.tree);
}

/** The number that the handoff names; null if it names none. */
function iterationIn(handoff: TrustAttempt | undefined): number | null {
  const payload = handoff?.outcome?.["payload"];
  const said = isObject(payload) ? payload["iteration"] : undefined;
  return typeof said === "number" ? said : null;
}

/**
 * The numbers that an honest agent may give: the attempt's own, that of the iterations that came to an end, and that of the loop in which a
 * judge sent the work back.
 */
function iterationsOf(
  own: readonly TrustAttempt[],
  handoff: TrustAttempt | undefined,
  attempts: readonly TrustAttempt[],
  judges: ReadonlySet<string>,
): readonly number[] {
  if (handoff === undefined) return [];
  const before = attempts.slice(0, attempts.indexOf(handoff));
  const ended = own.slice(0, own.indexOf(handoff) + 1).filter(isComplete).length;
  const loops = before.filter((attempt) => judges.has(attempt.stage) && asksForChanges(attempt)).length;
  return [handoff.attempt, ended, loops + 1];
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

function gatesIn(payload: Json | undefined): readonly { readonly name: string; readonly clean: boolean }[] {
  const gates = isObject(payload) ? payload["gates"] : undefined;
  if (!Array.isArray(gates)) return [];
  return (gates as readonly Json[]).map((gate) => ({
    name: isObject(gate) ? textOf(gate["name"]) : "",
    clean: isObject(gate) && gate["clean"] === true,
  }));
}

type RanGate = TreeNow & { readonly name: string; readonly state: string };

function checksIn(checks: Json | undefined): readonly RanGate[] {
  if (!Array.isArray(checks)) return [];
  return (checks as readonly Json[]).filter(isObject).map(({ name, state, commit, tree }) => ({
    name: textOf(name),
    state: textOf(state),
    commit: textOf(commit) || null,
    tree: textOf(tree) || null,
  }));
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : "";
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
    .map(({ stage, iteration, trusted, reasons, basis }) => {
      const run = (names: readonly string[]) => names.map((name) => GATE_WORDS[name] ?? name).join(", ");
      const which = iteration === 0 ? stage : `${stage}, iteration ${iteration}`;
      if (trusted) return `Quality gates of ${which}: trusted. Run ${run(gates.when_trusted ?? [])}. Basis: ${basis}.`;
      return `Quality gates of ${which}: not trusted, because ${reasons.join("; ")}. Run ${run(gates.otherwise ?? [])}.`;
    })
    .join("\n");
}
