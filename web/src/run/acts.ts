// What a person can do with a run, in words: what it does, what it needs to know, and the command that does the same.

import type { AnswerTo } from "../../../src/http/client/input.ts";

export type Act = AnswerTo<"listActs">["acts"][number];
export type Verb = Act["act"];

export type Wording = {
  readonly name: string;
  readonly about: string;
  /** What may or must be said with it. */
  readonly says: "reason" | "needed reason" | "note" | "nothing";
  readonly isDanger: boolean;
};

export const WORDING: Readonly<Record<Verb, Wording>> = {
  pause: {
    name: "Pause",
    about: "Nothing more of this run starts. What works now ends by itself.",
    says: "reason",
    isDanger: false,
  },
  resume: { name: "Resume", about: "The run goes on where it was paused.", says: "nothing", isDanger: false },
  retry: { name: "Retry", about: "The stage works again, in a new attempt.", says: "note", isDanger: false },
  rerun: {
    name: "Rerun from",
    about: "The run goes back to this stage; everything after it comes again, gates too. Loops stay counted.",
    says: "note",
    isDanger: false,
  },
  skip: {
    name: "Skip",
    about: "The stage is left out. The reason is recorded.",
    says: "needed reason",
    isDanger: true,
  },
  cancel: { name: "Cancel", about: "The run ends. Its branch and its records stay.", says: "reason", isDanger: true },
};

/** The same on a command line, ready to paste. */
export function commandOf(verb: Verb, number: number, stage: string | null, said: string): string {
  const parts = ["passrail", "runs", verb, String(number)];
  if (stage !== null && verb === "rerun") parts.push("--from", stage);
  if (stage !== null && (verb === "retry" || verb === "skip")) parts.push("--stage", stage);
  const { says } = WORDING[verb];
  const text = said.trim();
  if (says !== "nothing" && (text !== "" || says === "needed reason"))
    parts.push(says === "note" ? "--note" : "--reason", quoted(text === "" ? "…" : text));
  return parts.join(" ");
}

/** One word for a shell: nothing in it is read by the shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

export function actName({ act, stage }: Pick<Act, "act" | "stage">): string {
  return stage === null ? WORDING[act].name : `${WORDING[act].name} ${stage}`;
}
