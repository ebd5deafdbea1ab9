// Registers `doctor`.

import type { Command } from "commander";
import type { CommandContext } from "../../context.ts";
import { addOptions, flag, type TypedFlags } from "../../options.ts";

export function addDoctor(program: Command, { call, version }: CommandContext): void {
  const command = program
    .command("doctor")
    .description("look at this machine and project: what works, what does not, and what fixes it");
  const read = addOptions(command, {
    fix: flag("--fix", "mend what is Passrail's own, such as permissions of its files; the rest stays yours"),
  });
  command.action((typed: TypedFlags) =>
    call(async (io) => (await import("./doctor.ts")).doctor(io, version, read(typed))),
  );
}
