// Registers `migrate`, `backup` and `restore`.

import type { Command } from "commander";
import type { CommandContext } from "../../context.ts";

export function addCopies(program: Command, { call }: CommandContext): void {
  program
    .command("migrate")
    .description("copy the whole store to another database, and verify the copy")
    .requiredOption(
      "--to <address>",
      "postgres://user:password@host:5432/database, or sqlite for the file in the state folder",
    )
    .action(({ to }: { to: string }) => call(async (io) => (await import("./copies.ts")).migrate(io, to)));
  program
    .command("backup")
    .description("write one moment of the store into a file, also beside a daemon")
    .argument("<file>", "a new file")
    .action((file: string) => call(async (io) => (await import("./copies.ts")).backup(io, file)));
  program
    .command("restore")
    .description("bring a backup into a store that is empty")
    .argument("<file>", "a file that backup wrote")
    .action((file: string) => call(async (io) => (await import("./copies.ts")).restore(io, file)));
}
