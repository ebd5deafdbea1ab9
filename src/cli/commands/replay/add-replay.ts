// Registers `replay`.

import type { Command } from "commander";
import type { CommandContext } from "../../context.ts";
import { RUN } from "../../help-text.ts";
import { addOptions, text, type TypedFlags } from "../../options.ts";

export function addReplay(program: Command, { call }: CommandContext): void {
  const command = program
    .command("replay")
    .description("repeat a run's attempts offline with the recorded answers of their models, and compare the results")
    .argument("<run>", RUN);
  const read = addOptions(command, {
    stage: text("--stage <stage#n>", "only this stage, or one attempt of it (default: all)"),
    swap: text(
      "--swap <stage=runner>",
      "run this stage anew with another runner, really and paid, on the recorded inputs",
    ),
    model: text("--model <model>", "with --swap: the model"),
    workspace: text(
      "--workspace <kind>",
      "where: a sandbox, or worktree (default: the sandbox that the run had, else a worktree)",
    ),
  });
  command.action((run: string, typed: TypedFlags) =>
    call(async (io) => (await import("./replay.ts")).replay(io, run, read(typed))),
  );
}
