// Registers `run`, and the hidden command that a detached run starts with.

import type { Command } from "commander";
import type { CommandContext } from "../../context.ts";
import { RUNNER_HELP, SLOTS_HELP, WORKSPACE_HELP } from "../../help-text.ts";
import { addOptions, flag, list, text, type TypedFlags } from "../../options.ts";

export function addRun(program: Command, { call }: CommandContext): void {
  const command = program
    .command("run")
    .description("start a run and follow it until it stops or needs you")
    .argument("<flow>", "see: passrail flow list")
    .argument("[text]", "the task; - reads standard input");
  const read = addOptions(command, {
    ticket: text("--ticket <file>", "read the task from a Markdown file"),
    agent: list("--agent <stage=command>", RUNNER_HELP),
    input: list("--input <name=value>", "a fact for the flow's conditions (repeatable)"),
    workspace: text("--workspace <kind>", WORKSPACE_HELP),
    slots: text("--slots <n>", SLOTS_HELP),
    id: text("--id <id>", "the id of the subject, instead of a new one"),
    title: text("--title <title>", "the title, instead of the first line of the task"),
    wait: flag("--wait", "follow the run (the default)", (option) => option.conflicts("detach")),
    detach: flag("--detach", "start the run in the background and return"),
  });
  command.action((flow: string, task: string | undefined, typed: TypedFlags) =>
    call(async (io) => (await import("./run.ts")).run(io, flow, task, read(typed))),
  );
  program
    .command("start-detached", { hidden: true })
    .argument("<file>")
    .action((file: string) =>
      call(async (io) => {
        const { takePlan } = await import("./detach.ts");
        return (await import("./run.ts")).startRun(io, takePlan(file));
      }),
    );
}
