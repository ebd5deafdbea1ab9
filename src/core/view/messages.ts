// People's messages to the agents of a run, and their delivery: one wording for every page and command.

import type { ResolvedFlow } from "../flow/agent.ts";
import type { RunnerName } from "../flow/agent-options.ts";
import { runnerChoiceOf } from "../flow/runner-choice.ts";
import { MESSAGE_WAYS, type PersonMessage } from "../run/message.ts";
import { isEnded, type Run } from "../run/run.ts";
import { findWork } from "../run/sequence.ts";

export type MessageRow = {
  readonly number: number;
  readonly stage: string;
  readonly from: string;
  readonly text: string;
  readonly at: string;
  readonly isHeard: boolean;
  /** `reached attempt 2 while it worked`, `waits: codex gets it when its turn ends`. */
  readonly became: string;
};

export function messageRows(resolved: ResolvedFlow, run: Run): readonly MessageRow[] {
  return (run.messages?.kept ?? []).map(({ heard, ...message }) => ({
    ...message,
    isHeard: heard !== undefined,
    became:
      heard === undefined
        ? whenHeard(resolved, run, message)
        : `reached attempt ${heard.attempt} ${MESSAGE_WAYS[heard.way]}`,
  }));
}

/** Where a program takes nothing in between, the message is the next turn of the same session. */
const REACH: Readonly<Record<RunnerName, string>> = {
  claude: "gets it at its next step, or when its turn ends",
  codex: "takes nothing in the middle of a turn, and gets it when its turn ends",
  gemini: "takes nothing in the middle of a turn, and gets it when its turn ends",
  opencode: "takes nothing in the middle of a turn, and gets it when its turn ends",
  acp: "takes nothing in the middle of a turn, and gets it when its turn ends",
  command: "takes no messages while it works; the next attempt gets it with its prompt",
  outside: "gets it with the next attempt",
};

function whenHeard(resolved: ResolvedFlow, run: Run, { stage }: Pick<PersonMessage, "stage">): string {
  if (isEnded(run)) return "was not delivered: the run ended first";
  const [name, track] = Object.entries(run.tracks).find(([, each]) => "stage" in each && each.stage === stage) ?? [];
  if (name === undefined || track?.at !== "running") return `waits for the next attempt of ${stage}`;
  const work = findWork(resolved.flow, run, name, stage);
  const rung = (track.rung?.number ?? 1) - 1;
  const runner = work === undefined ? undefined : runnerChoiceOf(resolved, run.facts, work, rung)?.runner;
  return runner === undefined
    ? `waits for the next attempt of ${stage}`
    : `waits: ${runner === "command" ? "the program" : runner} ${REACH[runner]}`;
}
