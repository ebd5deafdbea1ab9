// Registers `spec`.

import type { Command } from "commander";
import type { CommandContext } from "../../context.ts";
import { RUNNER_HELP } from "../../help-text.ts";
import { addOptions, list, text, type TypedFlags } from "../../options.ts";

export function addSpec(program: Command, { call }: CommandContext): void {
  const command = program
    .command("spec")
    .description("turn a request into tickets; asks you about what is unclear")
    .argument("[request...]", "the request, in words");
  const read = addOptions(command, {
    agent: list("--agent <stage=command>", RUNNER_HELP),
    answers: text("--answers <file>", "prepared answers to the questions, as YAML or JSON"),
  });
  command.action((words: readonly string[], typed: TypedFlags) =>
    call(async (io) => (await import("./spec.ts")).spec(io, words, read(typed))),
  );
}
