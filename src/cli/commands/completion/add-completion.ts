// Registers `completion`, and the hidden command that the scripts of the shells ask. Both look at every other command, so they register last.

import { Argument, type Command } from "commander";
import type { CommandContext } from "../../context.ts";
import { addOptions, flag, type TypedFlags } from "../../options.ts";
import { SHELLS, type Shell } from "./shells.ts";

export function addCompletion(program: Command, { call }: CommandContext): void {
  program
    .command("completion")
    .description("print the completion script of a shell; it completes runs, items, tickets, flows and agents, too")
    .addArgument(new Argument("<shell>").choices(SHELLS))
    .action((shell: Shell) => call(async (io) => (await import("./scripts.ts")).completion(io, shell)));
  const complete = program.command("complete", { hidden: true }).argument("[words...]");
  const read = addOptions(complete, { newWord: flag("--new-word", "the cursor is after a space") });
  complete.action((words: readonly string[], typed: TypedFlags) =>
    call(async (io) =>
      (await import("./complete.ts")).complete(io, program, read(typed).newWord ? [...words, ""] : words),
    ),
  );
}
