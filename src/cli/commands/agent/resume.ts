// `agent resume`: a person says that a runner works again. The daemon starts what waited; without one the next command that performs does.

import type { HeldRunner } from "../../../app/holds.ts";
import { LIMIT_NEAR } from "../../../core/run/limit-use.ts";
import { holdText } from "../../../core/view/over-limit.ts";
import { actOnly } from "../../act-only.ts";
import { CliError, EXIT } from "../../errors.ts";
import { requireOperator } from "../../operator.ts";
import type { Io } from "../../terminal/io.ts";
import { printJson } from "../../terminal/output.ts";
import { oneLine } from "../../terminal/plain-text.ts";
import { localTime } from "../../terminal/run-view.ts";

export async function agentResume(io: Io, runner: string): Promise<number> {
  requireOperator(io, "agent resume");
  return actOnly(io, async ({ app, person, performedBy }) => {
    const lifted = await app.liftHold({ runner }, person);
    if (!lifted.ok) throw new CliError(lifted.error.code, lifted.error.message, lifted.error.hint ?? "");
    const { released } = lifted.value;
    if (io.json) printJson(io, { runner, released });
    else io.out(`${oneLine(runner, 60)} is no longer held; ${runsText(released)} may start`);
    if (!io.json && released > 0 && performedBy === null) io.err("Next: passrail up --detach");
    return EXIT.ok;
  });
}

/** `claude is over its quota until 14:05; 6 runs wait`. */
export function heldText(
  hold: Pick<HeldRunner, "runner" | "account" | "cause" | "reason" | "until" | "waiting">,
  now: number,
): string {
  const until = hold.until === null ? "" : ` until ${localTime(hold.until, now)}`;
  const paidBy = hold.account === "" ? "" : ` (${hold.account})`;
  if (hold.cause === LIMIT_NEAR) return `${holdText(hold)}${paidBy}${until}`;
  return `${holdText(hold)}${paidBy}${until}; ${runsText(hold.waiting)} ${hold.waiting === 1 ? "waits" : "wait"}`;
}

function runsText(count: number): string {
  return count === 1 ? "1 run" : `${count} runs`;
}
