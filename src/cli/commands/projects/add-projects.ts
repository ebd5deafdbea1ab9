// Registers `projects list|add|remove`.

import type { Command } from "commander";
import type { CommandContext } from "../../context.ts";
import { addOptions, text, type TypedFlags } from "../../options.ts";

export function addProjects(program: Command, { call }: CommandContext): void {
  const projects = program.command("projects").description("list, add and remove registered projects");
  projects
    .command("list")
    .description("list the registered projects and their folders")
    .action(() => call(async (io) => (await import("./projects.ts")).projectsList(io)));
  const add = projects
    .command("add")
    .description("register a folder under a name")
    .argument("[folder]", "the project's folder (default: the current folder)");
  const read = addOptions(add, { name: text("--name <name>", "the project's name (default: the folder's)") });
  add.action((folder: string | undefined, typed: TypedFlags) =>
    call(async (io) => (await import("./projects.ts")).projectsAdd(io, folder, read(typed).name)),
  );
  projects
    .command("remove")
    .description("forget a name; the folder and its runs stay")
    .argument("<name>")
    .action((name: string) => call(async (io) => (await import("./projects.ts")).projectsRemove(io, name)));
}
