// Registers `report`.

import type { Command } from "commander";
import type { CommandContext } from "../../context.ts";
import { addOptions, textOr, type TypedFlags } from "../../options.ts";

export function addReport(program: Command, { call }: CommandContext): void {
  const command = program
    .command("report")
    .description("what landed, what waits for you, what failed, what could not start, and what it cost");
  const read = addOptions(command, {
    since: textOr("--since <time>", "yesterday, 12h, 7d, or a day or time such as 2026-01-31", "24h"),
  });
  command.action((typed: TypedFlags) => call(async (io) => (await import("./report.ts")).report(io, read(typed))));
}
