// The part of a prompt after a person had taken over the stage: the person's own words, and the changes that Passrail found in the work tree.

import type { HandedBack } from "../run/run.ts";
import { fenced, oneLine } from "./quote.ts";

export function handedBackText({ by, note, commits, stat, discarded }: HandedBack): string {
  const who = oneLine(by);
  const paragraph = [
    `${who} had taken over your session and your work tree, and hands both back to you.`,
    "Turns of this conversation that you do not remember asking for are theirs.",
    changesText(commits, stat, discarded),
    "Look at the files as they are now before you continue, keep what the person did, and give the verdict of your stage as asked.",
  ].join(" ");
  const said = note.trim() === "" ? [] : [`${who} says:`, fenced(note)];
  const changes = stat === "" ? [] : ["Changed since they took over:", fenced(stat)];
  return ["## A person worked on this stage", paragraph, ...said, ...changes].join("\n");
}

function changesText(commits: number, stat: string, discarded: string | null): string {
  if (discarded !== null) return "Nothing of what they changed is kept: the files are as they were before.";
  if (commits === 0 && stat === "") return "They changed no file.";
  const count = commits === 1 ? "1 commit" : `${commits} commits`;
  return commits === 0 ? "The changes are listed below." : `The branch has ${count} from them.`;
}
