// Registers `settings`.

import type { Command } from "commander";
import type { CommandContext } from "../../context.ts";

export function addSettings(program: Command, { call }: CommandContext): void {
  program
    .command("settings")
    .description("every setting and limit with its value and where it came from")
    .argument("[name]", "only those whose name begins so, such as tickets")
    .action((name: string | undefined) => call(async (io) => (await import("./settings.ts")).settings(io, name)));
}
