// The part of a prompt after an attempt of the stage was cut off: that fact, and the changes that Passrail itself found
// in the work tree. The earlier attempt's own words are not repeated.

import { fenced } from "./quote.ts";

export type InterruptedWork = {
  /** The attempts that were cut off one after the other, right before this one. */
  readonly attempts: readonly number[];
  /** The changes in the work tree since the first of them began; null without git. */
  readonly found: {
    /** The commit at which it began. */
    readonly from: string;
    /** How many commits the branch has since then; "some" where they cannot be counted. */
    readonly commits: number | "some";
    /** A line per file, uncommitted work included; empty for no change. */
    readonly stat: string;
  } | null;
};

/** Whether the agent resumes the conversation that was cut off, or begins a new one. */
export type ConversationMemory = "kept" | "none";

export function interruptedText({ attempts, found }: InterruptedWork, memory: ConversationMemory): string {
  const cut =
    attempts.length === 1
      ? `Attempt ${attempts[0]} of your stage was cut off before it reported`
      : `Attempts ${attempts.join(", ")} of your stage were cut off before they reported`;
  const paragraph = [
    `${cut}: a process was ended, or the machine was restarted.`,
    memory === "kept"
      ? "You go on in the same conversation; your last step may be half done, and its result may be missing."
      : "This is a new conversation: you know nothing of it but what is in the work tree.",
    foundText(found),
    "Look at what is there before you go on, and do not do again what is done.",
  ].join(" ");
  const changes = found === null || found.stat === "" ? [] : [fenced(found.stat)];
  return ["## You were interrupted", paragraph, ...changes].join("\n");
}

const COMMIT = /^[0-9a-f]{40,64}$/u;

function foundText(found: InterruptedWork["found"]): string {
  if (found === null || !COMMIT.test(found.from)) return "The folder has no git history that shows what was done.";
  const { from, commits, stat } = found;
  if (stat === "" && commits === 0) return "The work tree shows no change since then.";
  const count = commits === 0 ? "no commit" : commits === 1 ? "1 commit" : `${commits} commits`;
  const changes = stat === "" ? "no changed file" : "the changes that are listed below, committed or not";
  return `Since it began the branch has ${count}, and \`git diff ${from}\` shows ${changes}.`;
}
