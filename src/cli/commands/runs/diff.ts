// `runs diff`: all changes of a run, from where it began to the head of its branch.

import { changeLines } from "../../../core/view/work-summary.ts";
import { CliError, EXIT } from "../../errors.ts";
import { requireRun } from "../../find-run.ts";
import { withReader } from "../../reader.ts";
import type { Io } from "../../terminal/io.ts";
import { type Color, paint, printJson } from "../../terminal/output.ts";
import { oneLine, plainText } from "../../terminal/plain-text.ts";
import { readRunDiff } from "../../work-summary.ts";

export async function runsDiff(io: Io, reference: string, { stat }: { readonly stat: boolean }): Promise<number> {
  const { number, id, found } = await withReader(io, async (store) => {
    const { run, summary } = await requireRun(store, reference);
    const diff = store === undefined ? null : await readRunDiff(io, store, run, await store.attempts(run.id));
    return { number: summary.number, id: run.id, found: diff };
  });
  if (found === null)
    throw new CliError("no_changes", `#${number} has changed nothing yet.`, `passrail runs show ${number}`);
  const { from, to, bytes, stat: size } = found;
  const text = bytes.toString("utf8");
  if (io.json) printJson(io, { run: id, from, to, ...size, ...(stat ? {} : { text }) });
  else if (stat) for (const line of changeLines(size)) io.out(oneLine(line, 400));
  else for (const line of text.replace(/\n$/u, "").split("\n")) io.out(colored(io, plainText(line)));
  return EXIT.ok;
}

const COLORS: readonly (readonly [begins: string, color: Color])[] = [
  ["diff --git ", "bold"],
  ["+++ ", "bold"],
  ["--- ", "bold"],
  ["@@ ", "cyan"],
  ["+", "green"],
  ["-", "red"],
];

function colored(io: Io, line: string): string {
  const color = COLORS.find(([begins]) => line.startsWith(begins))?.[1];
  return color === undefined ? line : paint(io, color, line);
}
