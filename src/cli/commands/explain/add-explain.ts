// Registers `explain`.

import type { Command } from "commander";
import type { CommandContext } from "../../context.ts";

export function addExplain(program: Command, { call }: CommandContext): void {
  program
    .command("explain")
    .description("why a ticket or a run is or is not running")
    .argument("<ticket>", "a ticket such as AGI-7, or a run by number or id")
    .action((reference: string) => call(async (io) => (await import("./explain.ts")).explain(io, reference)));
}
