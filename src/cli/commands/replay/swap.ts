// `replay --swap`: prints the recorded attempt and the one with another runner side by side.

import type { FoundRun } from "../../../app/find-run.ts";
import type { ReplaySite } from "../../../app/replay/replay-run.ts";
import { type Swap, type SwapReport, type SwapSide, swapStage } from "../../../app/replay/swap-stage.ts";
import { nameOf } from "../../../app/replay/find-taped.ts";
import { amountText } from "../../../core/budget/budget.ts";
import { tokensOf } from "../../../core/budget/usage.ts";
import type { ShownResult } from "../../../core/replay/compare.ts";
import { EXIT, problemError } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";
import { printJson, printTable } from "../../terminal/output.ts";
import { oneLine } from "../../terminal/plain-text.ts";

export async function showSwap(io: Io, site: ReplaySite, found: FoundRun, swap: Swap): Promise<number> {
  const report = await swapStage(site, found, swap);
  if (!report.ok) throw problemError(report.error, site.signal.aborted ? EXIT.interrupted : EXIT.error);
  if (io.json) printJson(io, report.value);
  else if (!io.quiet) printSwap(io, report.value);
  return EXIT.ok;
}

function printSwap(io: Io, report: SwapReport): void {
  const { recorded, swapped } = report;
  const row = (what: string, of: (side: SwapSide) => string) => [
    { name: "", value: what },
    { name: "Recorded", value: of(recorded) },
    { name: "Now", value: of(swapped) },
  ];
  printTable(io, [
    row(nameOf(report), ({ runner, model }) => (model === null ? runner : `${runner} ${model}`)),
    row("verdict", resultText),
    row("issues", ({ issues }) => String(issues.length)),
    row("cost", costText),
    row("diff", ({ diff }) => `${diff.files} files +${diff.added} -${diff.removed}`),
  ]);
  const same = (isSame: boolean): string => (isSame ? "same" : "different");
  const payload = report.differs.length === 0 ? "same" : `different (${report.differs.join(", ")})`;
  io.out(`verdict ${same(report.sameVerdict)}, payload ${payload}, diff ${same(report.sameDiff)}`);
  for (const [side, { issues }] of Object.entries({ recorded, now: swapped }))
    for (const issue of issues.slice(0, 20)) io.out(oneLine(`${side}: ${issue}`, 400));
  if (swapped.reason !== null) io.out(oneLine(swapped.reason, 400));
}

function costText({ usage }: SwapSide): string {
  if (usage === null) return "not known";
  const tokens = tokensOf(usage);
  const parts = [
    usage.usd === null ? null : amountText("usd", usage.usd),
    tokens === null ? null : amountText("tokens", tokens),
  ];
  return parts.filter((part) => part !== null).join(", ") || "not known";
}

export function resultText({ health, verdict, word, cause }: ShownResult): string {
  return cause ?? word ?? verdict ?? health;
}
