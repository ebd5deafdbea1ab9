// Registers `doctor`.

import type { Command } from "commander";
import type { CommandContext } from "../../context.ts";

export function addDoctor(program: Command, { call, version }: CommandContext): void {
  program
    .command("doctor")
    .description("look at this machine and project: what works, what does not, and what fixes it")
    .action(() => call(async (io) => (await import("./doctor.ts")).doctor(io, version)));
}
