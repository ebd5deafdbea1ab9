// The flow's demands on the documents of the branch, in the words of a prompt: notes that a pass must leave, files that leave with it.

import type { WorkStage } from "../flow/flow.ts";

/** `fill` gives undefined for a text whose facts the run does not have. */
export function documentLines(
  { notes, retires }: Pick<WorkStage, "notes" | "retires">,
  fill: (text: string) => string | undefined,
): readonly string[] {
  const file = notes === undefined ? undefined : fill(notes.file);
  const gone = (retires?.files ?? []).flatMap((name) => fill(name) ?? []).filter((name) => name !== file);
  const way = retires?.to === undefined ? "removes them" : `moves them to the folder ${retires.to} beside them`;
  return [
    ...(notes === undefined || file === undefined
      ? []
      : [
          `${file} must have exactly one section "${notes.under}", with ${notes.sections.map((name) => `"### ${name}"`).join(", ")}, each with some text ("None" where there is nothing to say). Passrail reads it in the commit.`,
        ]),
    ...(gone.length === 0 ? [] : [`Leave ${gone.join(" and ")} where they are: after your pass Passrail ${way}.`]),
  ];
}
