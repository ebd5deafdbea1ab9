// Registers `merge`, `discard`, `done`, `merge-queue` and `undo`.

import type { Command } from "commander";
import type { CommandContext } from "../../context.ts";
import { RUN } from "../../help-text.ts";
import { addOptions, flag, text, type TypedFlags } from "../../options.ts";

export function addMerge(program: Command, context: CommandContext): void {
  const { call } = context;
  addMergeRun(program, context);
  program
    .command("discard")
    .description("remove the branch of a run that has ended; `passrail undo` restores it")
    .argument("<run>", RUN)
    .action((run: string) => call(async (io) => (await import("./merge.ts")).discard(io, run)));
  addDone(program, context);
  program
    .command("merge-queue")
    .description("list work that is landing or waits to be merged")
    .action(() => call(async (io) => (await import("./done.ts")).mergeQueue(io)));
  addUndo(program, context);
}

function addMergeRun(program: Command, { call }: CommandContext): void {
  const command = program
    .command("merge")
    .description("land the work of a completed run in the target branch, after the checks of merge.checks")
    .argument("<run>", RUN);
  const read = addOptions(command, { pr: flag("--pr", "open a pull request instead, and wait for its merge") });
  command.action((run: string, typed: TypedFlags) =>
    call(async (io) => (await import("./merge.ts")).merge(io, run, read(typed))),
  );
}

function addDone(program: Command, { call }: CommandContext): void {
  const command = program
    .command("done")
    .description("mark a ticket's work as merged, after checking that it is")
    .argument("<ticket>", "the ticket's id, or its run");
  const read = addOptions(command, {
    commit: text("--commit <id>", "the commit that holds the work, if it was squashed or rebased"),
    force: flag("--force", "skip the check; needs --reason"),
    reason: text("--reason <text>", "why the check is skipped; goes into the record"),
  });
  command.action((ticket: string, typed: TypedFlags) =>
    call(async (io) => (await import("./done.ts")).done(io, ticket, read(typed))),
  );
}

function addUndo(program: Command, { call }: CommandContext): void {
  const command = program
    .command("undo")
    .description("take back what landed after a cancel, or restore a branch that was cleaned up")
    .argument("[ticket]", "the ticket's id");
  const read = addOptions(command, {
    list: flag("--list", "list the branches: still there, moved or gone"),
  });
  command.action((ticket: string | undefined, typed: TypedFlags) =>
    call(async (io) => {
      const { requireTicket, undo, undoList } = await import("./undo.ts");
      return read(typed).list ? undoList(io) : undo(io, requireTicket(ticket));
    }),
  );
}
