// Registers `trust` and `trust revoke`.

import type { Command } from "commander";
import type { CommandContext } from "../../context.ts";
import { addOptions, flag, type TypedFlags } from "../../options.ts";

export function addTrust(program: Command, { call }: CommandContext): void {
  const command = program
    .command("trust")
    .description("show and approve the files by which a project decides what runs");
  const read = addOptions(command, {
    diff: flag("--diff", "show every changed line"),
    yes: flag("--yes", "approve the files as they are now"),
  });
  command.action((typed: TypedFlags) => call(async (io) => (await import("./trust.ts")).trust(io, read(typed))));
  command
    .command("revoke")
    .description("withdraw the approval: nothing new starts before the files are approved again")
    .action(() => call(async (io) => (await import("./trust.ts")).trustRevoke(io)));
}
