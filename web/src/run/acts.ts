// The actions that a person can take on a run: names, effects, inputs, and the command that does the same.

import type { AnswerTo } from "../../../src/http/client/input.ts";
import { shellWord } from "../../../src/core/shell-word.ts";

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
  retry: {
    name: "Retry",
    about:
      "Runs the stage again in a new attempt, with the settings as they are now. The flow stays as it was at the start.",
    says: "note",
    isDanger: false,
  },
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
  takeover: {
    name: "Take over",
    about:
      "Ends the agent and commits what it left. You then work in its folder, in its session if it has one; nothing of the run starts until you hand it back. The page shows the command.",
    says: "nothing",
    isDanger: false,
  },
  handback: {
    name: "Hand back",
    about:
      "Commits what you changed. The agent then continues in the same session: it gets your note and the list of changed files. Gates and checks come as usual.",
    says: "note",
    isDanger: false,
  },
  cancel: { name: "Cancel", about: "Ends the run. Its branch and its records stay.", says: "reason", isDanger: true },
};

/** A person's addition to some actions. */
export type Extras = {
  /** `retry`: another runner or model for the stage; empty for the same. */
  readonly agent: string;
  readonly model: string;
  /** `handback`: without the changes. */
  readonly discard: boolean;
};

export const NO_EXTRAS: Extras = { agent: "", model: "", discard: false };

const OF_STAGE: ReadonlySet<Verb> = new Set(["retry", "skip", "stop", "takeover"]);

/** The same action as a command line, ready to paste. */
export function commandOf(
  verb: Verb,
  number: number,
  stage: string | null,
  said: string,
  { agent, model, discard }: Extras = NO_EXTRAS,
): string {
  const parts = ["passrail", "runs", verb, String(number)];
  if (stage !== null && verb === "rerun") parts.push("--from", stage);
  if (stage !== null && OF_STAGE.has(verb)) parts.push("--stage", stage);
  if (stage !== null && agent !== "") parts.push("--agent", shellWord(`${stage}=${agent}`));
  if (stage !== null && model.trim() !== "") parts.push("--model", shellWord(`${stage}=${model.trim()}`));
  if (discard) parts.push("--discard");
  const { says } = WORDING[verb];
  const text = said.trim();
  if (says !== "nothing" && (text !== "" || says === "needed reason"))
    parts.push(says === "note" ? "--note" : "--reason", shellWord(text === "" ? "…" : text));
  return parts.join(" ");
}

/**
 * For a menu that stays open while the run continues: items that come or go would move the others below the pointer. The menu keeps an act that
 * the run no longer has; the server says why it refuses it.
 */
export function inPlace(opened: readonly Act[], now: readonly Act[]): readonly Act[] {
  return opened.map((act) => now.find((each) => actName(each) === actName(act)) ?? act);
}

export function actName({ act, stage }: Pick<Act, "act" | "stage">): string {
  return stage === null ? WORDING[act].name : `${WORDING[act].name} ${stage}`;
}
