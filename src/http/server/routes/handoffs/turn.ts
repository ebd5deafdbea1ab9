// Whose turn it is: the attempt that a caller may start or end. An attempt's token ends its own attempt; an operator speaks for outside
// agents. Only the program that plays a stage ends it.

import type { Refusal } from "../../../contract/problem.ts";
import type { ResolvedFlow } from "../../../../core/flow/agent.ts";
import type { Actor } from "../../../../core/run/event.ts";
import type { Flow, WorkStage } from "../../../../core/flow/flow.ts";
import type { Report } from "../../../../core/flow/outcome.ts";
import { isPlayedOutside } from "../../../../core/flow/runner-choice.ts";
import { err, ok, type Result } from "../../../../core/result.ts";
import type { Run, Track } from "../../../../core/run/run.ts";
import { findWork } from "../../../../core/run/sequence.ts";
import type { WorkReport } from "../../../../app/report-work.ts";
import { isOwn } from "../../agent-reach.ts";
import type { Principal } from "../../principal.ts";

/** An attempt or an agent gets the same refusal for another's story and for another agent's work. */
export const FOREIGN: Refusal = {
  code: "scope_missing",
  detail: "This token is good for its own story, as its own agent, and for nothing else.",
};

export type Turn = {
  /** The name of the track. */
  readonly name: string;
  readonly stage: WorkStage;
  readonly track: Extract<Track, { readonly at: "ready" | "running" }>;
  /** The actor for the record. */
  readonly actor: Actor;
  readonly isOutside: boolean;
};

type At = { readonly run: Run; readonly resolved: ResolvedFlow };

/** The stages that are ready or running. */
export function currentWork({ run, resolved }: At): readonly CurrentWork[] {
  return Object.entries(run.tracks).flatMap(([name, track]) => {
    if (track.at !== "ready" && track.at !== "running") return [];
    const stage = findWork(resolved.flow, run, name, track.stage);
    return stage === undefined ? [] : [{ name, stage, track }];
  });
}

export type CurrentWork = Pick<Turn, "name" | "stage" | "track">;

/** The turn whose stage `fits`. `whose` names it in a refusal. */
export function findTurn(
  at: At,
  principal: Principal,
  whose: string,
  fits: (stage: WorkStage, track: Turn["track"]) => boolean,
): Result<Turn, Refusal> {
  const work = currentWork(at);
  const [found, ...others] = work.filter(({ stage, track }) => fits(stage, track));
  if (found === undefined) return err(outOfTurn(at.run, work, whose));
  if (others.length > 0)
    return err({
      code: "out_of_turn",
      detail: `Several stages are at work: ${work.map(({ stage }) => stage.id).join(", ")}. Name one.`,
    });
  const { name, stage, track } = found;
  if (track.at === "ready" && at.run.paused)
    return err({ code: "out_of_turn", detail: "The run is paused: nothing of it starts.", hint: "Resume it first." });
  const isOutside = track.at === "running" ? track.outside === true : isPlayedOutside(at.resolved, at.run.facts, stage);
  if (principal.kind === "attempt") {
    const isOwn = track.at === "running" && track.stage === principal.stage && track.attempt === principal.attempt;
    return isOwn
      ? ok({ name, stage, track, isOutside, actor: `agent:${stage.shownAgent}` })
      : err(outOfTurn(at.run, work, whose));
  }
  if (principal.kind === "agent") {
    if (!isOwn(principal, stage)) return err(FOREIGN);
    return isOutside
      ? ok({ name, stage, track, isOutside, actor: `agent:${stage.shownAgent}` })
      : err(byProgram(stage));
  }
  if (principal.kind !== "operator") throw new Error(`a ${principal.kind} acts`);
  if (!isOutside) return err(byProgram(stage));
  return ok({ name, stage, track, isOutside, actor: principal.actor });
}

export function finishOf({ stage, track, isOutside }: Turn, report: Report): WorkReport {
  const { attempt } = track;
  const body = { type: "attempt.finished", stage: stage.id, attempt, report } as const;
  return isOutside ? { ...body, outside: true } : body;
}

/** A report in the words of the flow. */
export function reportOf(flow: Flow, stage: WorkStage, verdict: "pass" | "revise", said: Partial<Report>): Report {
  return { ...said, ...wordFor(flow, stage, verdict), structured: true };
}

/** The flow's own word if it has one; a stage that gives no verdict passes without. */
function wordFor(flow: Flow, stage: WorkStage, verdict: "pass" | "revise"): Pick<Report, "verdict"> {
  if (verdict === "pass" && !stage.expectsVerdict) return {};
  const words = stage.verdicts ?? Object.keys(flow.words.verdict);
  return { verdict: words.find((word) => flow.words.verdict[word] === verdict) ?? verdict };
}

function outOfTurn(run: Run, work: readonly Pick<Turn, "stage">[], whose: string): Refusal {
  const now = work.map(({ stage }) => stage.shownAgent).join(", ");
  const why = now === "" ? `no agent is at work: the run is ${run.status} (${run.word})` : `it is the turn of ${now}`;
  return { code: "out_of_turn", detail: `It is not the turn of ${whose}: ${why}.` };
}

function byProgram({ shownAgent }: WorkStage): Refusal {
  return {
    code: "played_by_program",
    detail: `${shownAgent} is played by a program that Passrail starts; only that program can speak for it.`,
    hint: `Start the run with the runner "outside" for ${shownAgent} to let others do its work.`,
  };
}
