// Registers `import claude`.

import type { Command } from "commander";
import type { CommandContext } from "../../context.ts";
import { addOptions, flag, text, type TypedFlags } from "../../options.ts";

export function addImport(program: Command, { call }: CommandContext): void {
  const command = program
    .command("import")
    .description("bring agents of other tools into this project")
    .command("claude")
    .description("show what .claude/agents and .claude/commands would become; --yes writes it. Nothing is replaced");
  const read = addOptions(command, {
    command: text("--command <name>", "only this file of .claude/commands (default: all)"),
    yes: flag("--yes", "write the files"),
  });
  command.action((typed: TypedFlags) =>
    call(async (io) => (await import("./import.ts")).importClaude(io, read(typed))),
  );
}
