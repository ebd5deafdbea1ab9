// Registers `work`.

import type { Command } from "commander";
import type { CommandContext } from "../../context.ts";
import { RUNNER_HELP, SLOTS_HELP } from "../../help-text.ts";
import { addOptions, flag, list, text, type TypedFlags } from "../../options.ts";

export function addWork(program: Command, { call }: CommandContext): void {
  const command = program.command("work").description("pick tickets and work on them until Ctrl-C");
  const read = addOptions(command, {
    once: flag("--once", "exit when no ticket can start and no agent is running"),
    slots: text("--slots <n>", SLOTS_HELP),
    runners: list("--agent <stage=command>", RUNNER_HELP),
  });
  command.action((typed: TypedFlags) => call(async (io) => (await import("./work.ts")).work(io, read(typed))));
}
