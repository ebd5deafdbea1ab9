// The possible next outcomes of a simulation, as a list to choose from: the flow's own words for a stage, the answers that an item offers. Each
// choice is an entry of the list that `flow simulate --outcomes` reads.

import type { Flow, WorkStage } from "../flow/flow.ts";
import { HEALTHS } from "../flow/outcome.ts";
import { ownCommand } from "../flow/own-command.ts";
import type { JsonObject } from "../json.ts";
import { findWork } from "./sequence.ts";
import type { Run } from "./run.ts";
import type { Expected, Simulation } from "./simulate.ts";

export type OfferedOutcome = { readonly label: string; readonly outcome: JsonObject };

export type GuidedStep = {
  /** `build, attempt 2`, `gate merge`. */
  readonly about: string;
  readonly offers: readonly OfferedOutcome[];
  /** How a typed text becomes an outcome; absent where only the offers fit. */
  readonly free?: { readonly asks: string; readonly read: (text: string) => JsonObject };
};

/** Null if nothing can happen any more. */
export function nextStep(flow: Flow, { run, trace }: Pick<Simulation, "run" | "trace">): GuidedStep | null {
  const next = trace.at(-1)?.next.find(({ kind }) => kind !== "stopped");
  return next === undefined || next.kind === "stopped" ? null : stepOf(flow, run, next);
}

function stepOf(flow: Flow, run: Run, next: Exclude<Expected, { kind: "stopped" }>): GuidedStep {
  if (next.kind !== "stage") {
    const { kind, stage, answers } = next;
    const about = `${kind} ${stage}`;
    if (kind === "question")
      return { about, offers: [], free: { asks: "the answer", read: (answer) => ({ question: stage, answer }) } };
    const key = kind === "budget" ? "stage" : kind;
    return { about, offers: answers.map((answer) => ({ label: answer, outcome: { [key]: stage, answer } })) };
  }
  const stage = workOf(flow, run, next.stage);
  const about = `${next.stage}${next.attempt > 1 ? `, attempt ${next.attempt}` : ""}`;
  if (stage?.kind === "router")
    return {
      about,
      offers: failures(next.stage),
      free: {
        asks: "agents that it chooses, with commas",
        read: (text) => ({ stage: next.stage, stages: text.split(",").map((name) => name.trim()) }),
      },
    };
  return { about, offers: [...successes(flow, stage, next.stage), ...failures(next.stage)] };
}

function workOf(flow: Flow, run: Run, id: string): WorkStage | undefined {
  for (const track of Object.keys(run.tracks)) {
    const found = findWork(flow, run, track, id);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The words of a stage that judges, the exit codes of a check, or simply that the work is done. */
function successes(flow: Flow, stage: WorkStage | undefined, id: string): readonly OfferedOutcome[] {
  if (stage !== undefined && stage.result.from === "exit-code" && ownCommand(stage) !== null)
    return [0, 1].map((exit) => ({ label: `exit ${exit}`, outcome: { stage: id, exit } }));
  if (stage?.expectsVerdict !== true) return [{ label: "complete", outcome: { stage: id, health: "complete" } }];
  const words = stage.verdicts ?? Object.keys(flow.words.verdict);
  return words.map((verdict) => {
    const meaning = flow.words.verdict[verdict];
    const label = meaning === undefined || meaning === verdict ? verdict : `${verdict} (${meaning})`;
    return { label, outcome: { stage: id, verdict } };
  });
}

function failures(id: string): readonly OfferedOutcome[] {
  return HEALTHS.filter((health) => health !== "complete").map((health) => ({
    label: health,
    outcome: { stage: id, health },
  }));
}

/** The choice that a person typed: its number, its word, or a text where any will do. */
export function chosenOutcome({ offers, free }: GuidedStep, said: string): JsonObject | undefined {
  const wanted = said.trim().toLowerCase();
  const found = offers[Number(wanted) - 1] ?? offers.find(({ label }) => label.toLowerCase().split(" (")[0] === wanted);
  return found?.outcome ?? (free === undefined || wanted === "" ? undefined : free.read(said.trim()));
}
