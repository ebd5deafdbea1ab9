// Registers `verify`.

import type { Command } from "commander";
import type { CommandContext } from "../../context.ts";

export function addVerify(program: Command, { call }: CommandContext): void {
  program
    .command("verify")
    .description("check that no part of the stored history has been changed")
    .action(() => call(async (io) => (await import("./verify.ts")).verify(io)));
}
