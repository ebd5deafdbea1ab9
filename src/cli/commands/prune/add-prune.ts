// Registers `prune`.

import type { Command } from "commander";
import type { CommandContext } from "../../context.ts";
import { addOptions, flag, text, type TypedFlags } from "../../options.ts";

export function addPrune(program: Command, { call }: CommandContext): void {
  const command = program
    .command("prune")
    .description("remove the files of old runs whose work has landed or was discarded; a daemon does it automatically");
  const read = addOptions(command, {
    dryRun: flag("--dry-run", "only list them"),
    olderThan: text("--older-than <age>", "the age instead of retention.files.age: 12h, 30d, none"),
    keep: text("--keep <n>", "the newest runs that keep their files, instead of retention.files.count"),
    size: text("--size <size>", "maximum size of all files, instead of retention.files.size: 500mb, 20gb, none"),
  });
  command.action((typed: TypedFlags) => call(async (io) => (await import("./prune.ts")).pruneNow(io, read(typed))));
}
