// Registers `init`.

import type { Command } from "commander";
import type { CommandContext } from "../../context.ts";
import { addOptions, flag, type TypedFlags } from "../../options.ts";

export function addInit(program: Command, { call }: CommandContext): void {
  const command = program
    .command("init")
    .description("look at the project and this machine, and write a first passrail.yaml");
  const read = addOptions(command, {
    yes: flag("--yes", "write it without asking"),
    dryRun: flag("--dry-run", "only print the file"),
    runChecks: flag("--run-checks", "run the proposed checks once; red ones stay switched off"),
  });
  command.action((typed: TypedFlags) => call(async (io) => (await import("./init.ts")).init(io, read(typed))));
}
