// A person sets what a run may cost: more or less than the settings give every run. Stages that wait for the run's budget try again.

import type { BudgetLimit, Budgets, BudgetUnit } from "../core/budget/budget.ts";
import { err, ok, type Result } from "../core/result.ts";
import { runLimit } from "../core/run/run-budget.ts";
import { isEnded, type Run } from "../core/run/run.ts";
import { type Delivering, deliver, type Sent, wasApplied } from "./deliver.ts";
import { findRun } from "./find-run.ts";
import type { AppProblem } from "./problem.ts";
import { amountProblem } from "./start-run/start-budget.ts";

/** The new limits of the whole run; what is absent stays. */
export type BudgetRequest = { readonly usd?: number; readonly tokens?: number };

/** `changed` is false if the limits were so already, or if the same key did it earlier. */
export type ChangedBudget = { readonly run: Run; readonly limit: BudgetLimit; readonly changed: boolean };

export async function changeBudget(
  deps: Delivering & { readonly budgets: () => Budgets },
  reference: string,
  request: BudgetRequest,
  sent: Sent,
): Promise<Result<ChangedBudget, AppProblem>> {
  for (let tries = 1; ; tries++) {
    const changed = await tryOnce(deps, reference, request, sent);
    // A run at work moves on between the look and the change.
    if (changed !== "moved") return changed;
    if (tries === TRIES) return err({ code: "action_refused", message: "The run changes too fast; try again." });
  }
}

const TRIES = 10;

async function tryOnce(
  deps: Delivering & { readonly budgets: () => Budgets },
  reference: string,
  request: BudgetRequest,
  sent: Sent,
): Promise<Result<ChangedBudget, AppProblem> | "moved"> {
  const found = await findRun(deps.store, reference);
  if (!found.ok) return found;
  const { run, summary, version } = found.value;
  if (isEnded(run))
    return err({ code: "run_ended", message: `#${summary.number} is ${run.status}; it costs nothing more.` });
  const limit = runLimit(deps.budgets(), run);
  const [usd, tokens] = [changeOf("usd", limit, request), changeOf("tokens", limit, request)];
  if (!usd.ok) return usd;
  if (!tokens.ok) return tokens;
  if (usd.value === 0 && tokens.value === 0) return ok({ run, limit, changed: false });
  const body = { type: "budget.requested", usd: usd.value, tokens: tokens.value } as const;
  // The amounts are differences to what was just read.
  const delivered = await deliver(deps, run, body, { ...sent, ifVersion: version });
  if (delivered.ok) {
    const after = delivered.value.run;
    return ok({ run: after, limit: runLimit(deps.budgets(), after), changed: !delivered.value.duplicate });
  }
  if (await wasApplied(deps.store, run.id, sent.key)) return ok({ run, limit, changed: false });
  const isMoved = (await deps.store.loadRun(run.id))?.version !== version;
  return isMoved ? "moved" : err({ code: "action_refused", message: `#${summary.number}: ${delivered.error}.` });
}

function changeOf(unit: BudgetUnit, limit: BudgetLimit, request: BudgetRequest): Result<number, AppProblem> {
  const wanted = request[unit];
  if (wanted === undefined) return ok(0);
  const message = amountProblem(unit, wanted);
  if (message !== undefined) return err({ code: "amount_invalid", message });
  const now = limit[unit];
  if (now === null)
    return err({
      code: "action_refused",
      message: `The settings give runs no limit in ${unit === "usd" ? "dollars" : "tokens"}, so there is none to change.`,
      hint: `passrail config set budgets.run.${unit} AMOUNT`,
    });
  return ok(Math.round((wanted - now) * 1e6) / 1e6);
}
