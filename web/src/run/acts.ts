// The actions that a person can take on a run: names, effects, inputs, and the command that does the same.

import type { AnswerTo } from "../../../src/http/client/input.ts";
import { shellWord } from "../base/shell-word.ts";

export type Act = AnswerTo<"listActs">["acts"][number];
export type Verb = Act["act"];

export type Wording = {
  readonly name: string;
  readonly about: string;
  /** The text that the action takes. */
  readonly says: "reason" | "needed reason" | "note" | "nothing";
  readonly isDanger: boolean;
};

export const WORDING: Readonly<Record<Verb, Wording>> = {
  pause: {
    name: "Pause",
    about: "Starts no further stage of this run. Attempts that are running finish.",
    says: "reason",
    isDanger: false,
  },
  stop: {
    name: "Stop now",
    about: "Ends the agent at once and pauses the run. The stage starts again when you resume; nothing is counted.",
    says: "reason",
    isDanger: true,
  },
  resume: { name: "Resume", about: "The run continues where it was paused.", says: "nothing", isDanger: false },
  retry: { name: "Retry", about: "Runs the stage again in a new attempt.", says: "note", isDanger: false },
  rerun: {
    name: "Rerun from",
    about:
      "Goes back to this stage and runs everything after it again, gates included. Loop counters keep their values.",
    says: "note",
    isDanger: false,
  },
  skip: {
    name: "Skip",
    about: "Skips the stage and records your reason.",
    says: "needed reason",
    isDanger: true,
  },
  undo: {
    name: "Undo landing",
    about: "Takes back what landed although the run was canceled: by a commit on top, or by closing the pull request.",
    says: "nothing",
    isDanger: true,
  },
  cancel: { name: "Cancel", about: "Ends the run. Its branch and its records stay.", says: "reason", isDanger: true },
};

/** The same action as a command line, ready to paste. */
export function commandOf(verb: Verb, number: number, stage: string | null, said: string): string {
  const parts = ["passrail", "runs", verb, String(number)];
  if (stage !== null && verb === "rerun") parts.push("--from", stage);
  if (stage !== null && (verb === "retry" || verb === "skip" || verb === "stop")) parts.push("--stage", stage);
  const { says } = WORDING[verb];
  const text = said.trim();
  if (says !== "nothing" && (text !== "" || says === "needed reason"))
    parts.push(says === "note" ? "--note" : "--reason", shellWord(text === "" ? "…" : text));
  return parts.join(" ");
}

export function actName({ act, stage }: Pick<Act, "act" | "stage">): string {
  return stage === null ? WORDING[act].name : `${WORDING[act].name} ${stage}`;
}
