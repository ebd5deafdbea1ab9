// `run --dry-run`: the plan of the run, after every check of a real start. It stores and starts nothing.

import { describePlan, type StartPreview } from "../../../app/start-run/preview.ts";
import { amountText } from "../../../core/budget/budget.ts";
import { briefingLines } from "../../../core/view/briefing.ts";
import { loadSettings } from "../../../settings/load.ts";
import { EXIT, problemError } from "../../errors.ts";
import { withReader } from "../../reader.ts";
import type { Io } from "../../terminal/io.ts";
import { printJson } from "../../terminal/output.ts";
import { plainText } from "../../terminal/plain-text.ts";
import type { CommandPlan } from "./run-plan.ts";

export async function dryRun(io: Io, plan: CommandPlan): Promise<number> {
  const config = await loadSettings({ home: io.home, environment: io.environment, project: io.cwd, flags: {} });
  if (!config.ok) throw problemError(config.error, EXIT.usage);
  const preview = await withReader(io, (store) =>
    describePlan(
      {
        // Without a store nothing has run yet, and no cost is known.
        store: store ?? { usageHistory: async () => [] },
        budgets: () => config.value.budgets,
        now: () => new Date().toISOString(),
      },
      plan,
      null,
    ),
  );
  if (io.json) printJson(io, preview);
  else for (const line of linesOf(preview, plan.subject.title)) io.out(plainText(line));
  return EXIT.ok;
}

function linesOf(preview: StartPreview, title: string): readonly string[] {
  const { flow, plan, files, repositories, workspace, limit } = preview;
  const amounts = (["usd", "tokens"] as const).flatMap((unit) => {
    const most = limit[unit];
    return most === null ? [] : [amountText(unit, most)];
  });
  return [
    `${flow}: ${title}`,
    ...briefingLines({ ...plan, feature: title, files, repositories, contracts: null }),
    `workspace: ${workspace}`,
    `may cost in all: ${amounts.length === 0 ? "no limit" : amounts.join(" and ")}`,
    "Nothing was started (--dry-run).",
  ];
}
