// `ticket log AGI-7 [stage]`: prints the logs of a ticket's attempts from the state folder, one attempt after another.

import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { stageLogFile } from "../../../engine/stage-log.ts";
import { isName } from "../../../core/flow/name.ts";
import { CliError, EXIT, usageError } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";
import { printJson } from "../../terminal/output.ts";
import { plainText } from "../../terminal/plain-text.ts";

export async function ticketLog(io: Io, ticketId: string, stage: string | undefined): Promise<number> {
  if (!/^[A-Z]{2,10}-[1-9][0-9]{0,8}$/u.test(ticketId) || (stage !== undefined && !isName(stage)))
    throw usageError(
      "ticket_invalid",
      `"${ticketId}${stage === undefined ? "" : ` ${stage}`}" is not a ticket and its stage.`,
      "passrail ticket log AGI-7 implement",
    );
  const folder = join(io.home, "logs", ticketId);
  const stages = stage === undefined ? stagesIn(folder) : [stage];
  const logs = stages.flatMap((name) => {
    const file = stageLogFile(io.home, ticketId, name);
    const text = read(file);
    return text === undefined ? [] : [{ stage: name, file, text }];
  });
  if (logs.length === 0)
    throw new CliError(
      "log_not_found",
      `No attempt of ${ticketId}${stage === undefined ? "" : ` at ${stage}`} has ended yet.`,
      "passrail runs list   shows the runs",
    );
  if (io.json) printJson(io, { ticket: ticketId, logs });
  else for (const { file, text } of logs) io.out(io.quiet ? file : plainText(text.trimEnd()));
  return EXIT.ok;
}

/** Ordered by the time of their last change. */
function stagesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
      .filter((name) => name.endsWith(".log") && isName(name.slice(0, -".log".length)))
      .map((name) => ({ stage: name.slice(0, -".log".length), at: statSync(join(folder, name)).mtimeMs }))
      .sort((a, b) => a.at - b.at)
      .map((each) => each.stage);
  } catch {
    return [];
  }
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined;
  }
}
