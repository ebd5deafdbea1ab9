// Registers `queue`.

import type { Command } from "commander";
import type { CommandContext } from "../../context.ts";

export function addQueue(program: Command, { call }: CommandContext): void {
  program
    .command("queue")
    .description("what works and what waits its turn, per project and in order; --project shows one")
    .action(() => call(async (io) => (await import("./queue.ts")).queue(io)));
}
