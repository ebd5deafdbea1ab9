// Registers `logs`.

import type { Command } from "commander";
import type { CommandContext } from "../../context.ts";
import { addOptions, flag, textOr, type TypedFlags } from "../../options.ts";

export function addLogs(program: Command, { call }: CommandContext): void {
  const command = program
    .command("logs")
    .description("the daemon's log: its own lines and those of every run; --project shows the runs of one project");
  const read = addOptions(command, {
    follow: flag("-f, --follow", "follow new lines until Ctrl-C"),
    lines: textOr("-n, --lines <n>", "how many of the last lines", "200"),
  });
  command.action((typed: TypedFlags) => call(async (io) => (await import("./logs.ts")).logs(io, read(typed))));
}
