// `agent resume`: a person says that a runner works again. The daemon starts what waited; without one the next command that performs does.

import type { HeldRunner } from "../../../app/holds.ts";
import { LIMIT_NEAR } from "../../../core/run/limit-use.ts";
import { holdText } from "../../../core/view/over-limit.ts";
import { messageOf } from "../../../core/result.ts";
import { CliError, EXIT, problemError } from "../../errors.ts";
import { requireOperator } from "../../operator.ts";
import type { Io } from "../../terminal/io.ts";
import { printJson } from "../../terminal/output.ts";
import { oneLine } from "../../terminal/plain-text.ts";
import { localTime } from "../../terminal/run-view.ts";

export async function agentResume(io: Io, runner: string): Promise<number> {
  requireOperator(io, "agent resume");
  const { openPassrail } = await import("../../../compose.ts");
  const opened = await openPassrail({
    home: io.home,
    project: io.cwd,
    environment: io.environment,
    flags: {},
    // It starts nothing, so it needs nobody's approval of the project's files.
    unapproved: "ignore",
    onError: (runId, error) => io.err(`! ${runId === null ? "" : `${runId}: `}${messageOf(error)}`),
  });
  if (!opened.ok) throw problemError(opened.error);
  const passrail = opened.value;
  try {
    const lifted = await passrail.app.liftHold({ runner }, passrail.person);
    if (!lifted.ok) throw new CliError(lifted.error.code, lifted.error.message, lifted.error.hint ?? "");
    const { released } = lifted.value;
    if (io.json) printJson(io, { runner, released });
    else io.out(`${oneLine(runner, 60)} is no longer held; ${runsText(released)} may start`);
    if (!io.json && released > 0 && passrail.performedBy === null) io.err("Next: passrail up --detach");
    return EXIT.ok;
  } finally {
    await passrail.close();
  }
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
