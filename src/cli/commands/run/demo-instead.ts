// For a newcomer who types a task without a coding agent: lists what to install, and offers the demo at once.

import { CliError, EXIT, reportError } from "../../errors.ts";
import { askYesOrNo, canAsk } from "../../terminal/ask-in-terminal.ts";
import type { Io } from "../../terminal/io.ts";

/** Only for a person at a terminal, and only if no agent could play the run. */
export function canOfferDemo(io: Io, error: unknown): error is CliError {
  return error instanceof CliError && error.code === "no_agent_ready" && canAsk(io);
}

/** The task was not done, also after the demo. */
export async function offerDemo(io: Io, error: CliError): Promise<number> {
  reportError(io, error);
  if (!(await askYesOrNo("\nWatch the demo now? It takes a moment, and needs no agent and no key. [y/N] ")))
    return EXIT.error;
  const { runDemo } = await import("../../../demo/demo.ts");
  await runDemo(io, { interactive: false });
  io.err(`\nNow with your own task. ${error.hint.split("\n").slice(0, -1).join("\n")}`);
  return EXIT.error;
}
