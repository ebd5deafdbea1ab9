// Registers `trigger list|test|run`.

import type { Command } from "commander";
import type { CommandContext } from "../../context.ts";

const NAME = "see: passrail trigger list";

export function addTrigger(program: Command, { call }: CommandContext): void {
  const trigger = program.command("trigger").description("triggers, which start runs automatically");
  trigger
    .command("list")
    .description("list triggers with the last run of each")
    .action(() => call(async (io) => (await import("./trigger.ts")).triggerList(io)));
  trigger
    .command("test")
    .description("show what a trigger would do now; starts nothing")
    .argument("<name>", NAME)
    .action((name: string) => call(async (io) => (await import("./trigger.ts")).triggerTest(io, name)));
  trigger
    .command("run")
    .description("start a trigger's flow now")
    .argument("<name>", NAME)
    .action((name: string) => call(async (io) => (await import("./trigger.ts")).triggerRun(io, name)));
}
