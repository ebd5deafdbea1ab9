// Registers `demo`.

import type { Command } from "commander";
import type { CommandContext } from "../../context.ts";
import { addOptions, flag, textOr, type TypedFlags } from "../../options.ts";

export function addDemo(program: Command, { call, version }: CommandContext): void {
  const command = program.command("demo").description("run scripted agents on the real engine: no key, no network");
  const read = addOptions(command, {
    speed: textOr("--speed <factor>", "2 is twice as fast", "1"),
    scripted: flag("--scripted", "ask nothing; every answer is prepared"),
    dashboard: flag("--no-dashboard", "end after the last run, on a terminal too"),
  });
  command.action((typed: TypedFlags) => call(async (io) => (await import("./demo.ts")).demo(io, version, read(typed))));
}
