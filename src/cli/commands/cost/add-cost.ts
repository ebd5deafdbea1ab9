// Registers `cost`.

import type { Command } from "commander";
import type { CommandContext } from "../../context.ts";
import { RUN } from "../../help-text.ts";
import { addOptions, text, textOr, type TypedFlags } from "../../options.ts";

export function addCost(program: Command, { call }: CommandContext): void {
  const command = program.command("cost").description("what agents have cost").argument("[run]", RUN);
  const read = addOptions(command, {
    by: textOr("--by <key>", "agent, stage, flow, day, runner, model or run", "agent"),
    since: text("--since <time>", "7d, 12h or a day such as 2026-01-31"),
  });
  command.action((run: string | undefined, typed: TypedFlags) =>
    call(async (io) => (await import("./cost.ts")).cost(io, run, read(typed))),
  );
}
