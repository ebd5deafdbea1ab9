// `runs budget`: a person sets what a whole run may cost, more or less than the settings say.

import type { ChangedBudget } from "../../../app/change-budget.ts";
import type { AppProblem } from "../../../app/problem.ts";
import { amountText } from "../../../core/budget/budget.ts";
import { optional } from "../../../core/optional.ts";
import type { Result } from "../../../core/result.ts";
import { readAmount } from "../../amount.ts";
import { CliError, EXIT, usageError } from "../../errors.ts";
import { requireRun } from "../../find-run.ts";
import { requireOperator } from "../../operator.ts";
import { withReader } from "../../reader.ts";
import { workOn } from "../../session.ts";
import type { Io } from "../../terminal/io.ts";
import { printJson } from "../../terminal/output.ts";

const EXAMPLE = "passrail runs budget RUN --usd 40";

export type RunBudgetOptions = { readonly usd?: string; readonly tokens?: string };

export async function budget(io: Io, reference: string, options: RunBudgetOptions): Promise<number> {
  requireOperator(io, "runs budget");
  const request = optional({ usd: readAmount(options.usd, EXAMPLE), tokens: readAmount(options.tokens, EXAMPLE) });
  if (Object.keys(request).length === 0) throw usageError("amount_missing", "How much may the run cost?", EXAMPLE);
  const { run, summary } = await withReader(io, (store) => requireRun(store, reference));
  let changed: Result<ChangedBudget, AppProblem> | undefined;
  await workOn(io, {
    runId: run.id,
    flags: {},
    follow: false,
    stops: true,
    stream: false,
    lines: "err",
    act: async ({ app, person }) => {
      changed = await app.changeBudget(run.id, request, { actor: person });
      return false;
    },
  });
  if (changed === undefined) return EXIT.error;
  if (!changed.ok) throw new CliError(changed.error.code, changed.error.message, changed.error.hint ?? "");
  const { limit } = changed.value;
  if (io.json) printJson(io, { run: run.id, limit, changed: changed.value.changed });
  else io.out(`#${summary.number} may cost ${limitText(limit)} in all`);
  return EXIT.ok;
}

function limitText({ usd, tokens }: ChangedBudget["limit"]): string {
  const said = [usd === null ? [] : [amountText("usd", usd)], tokens === null ? [] : [amountText("tokens", tokens)]];
  return said.flat().join(" and ");
}
