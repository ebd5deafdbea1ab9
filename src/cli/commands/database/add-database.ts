// Registers `database`.

import type { Command } from "commander";
import type { CommandContext } from "../../context.ts";

export function addDatabase(program: Command, { call }: CommandContext): void {
  const database = program.command("database").description("where the store is, and the schema of one in Postgres");
  database
    .command("show")
    .description("where the store is: a file or a Postgres, its schema, and who performs on it")
    .action(() => call(async (io) => (await import("./database.ts")).showDatabase(io)));
  database
    .command("migrations")
    .description(
      "print the SQL that makes the schema in Postgres, or write it as files for a project that applies its own",
    )
    .option("--dir <folder>", "write a file per version into this folder, such as supabase/migrations")
    .action((options: { dir?: string }) =>
      call(async (io) => (await import("./database.ts")).migrations(io, options.dir)),
    );
  database
    .command("mirror")
    .description("how far the status mirror is: the database elsewhere that gets the status of every feature")
    .option("--sql", "print the SQL that makes its tables instead; it can be run again")
    .action((options: { sql?: boolean }) =>
      call(async (io) => (await import("./mirror.ts")).showMirror(io, options.sql === true)),
    );
}
