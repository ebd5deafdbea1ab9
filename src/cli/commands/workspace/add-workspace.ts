// Registers `workspace list|clean`.

import type { Command } from "commander";
import type { CommandContext } from "../../context.ts";
import { addOptions, flag, type TypedFlags } from "../../options.ts";

export function addWorkspace(program: Command, { call }: CommandContext): void {
  const workspace = program.command("workspace").description("list and clean the folders in which agents work");
  workspace
    .command("list")
    .description("list workspaces with their runs, leftovers and uncommitted work")
    .action(() => call(async (io) => (await import("./workspace.ts")).workspaceList(io)));
  const clean = workspace
    .command("clean")
    .description("remove workspaces that no live run owns, after pinning their work");
  const read = addOptions(clean, { dryRun: flag("--dry-run", "only list them") });
  clean.action((typed: TypedFlags) =>
    call(async (io) => (await import("./workspace.ts")).workspaceClean(io, read(typed))),
  );
}
