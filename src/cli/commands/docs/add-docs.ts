// Registers `docs`.

import type { Command } from "commander";
import type { CommandContext } from "../../context.ts";
import { addOptions, flag, type TypedFlags } from "../../options.ts";

export function addDocs(program: Command, { call }: CommandContext): void {
  const command = program
    .command("docs")
    .description("open the documentation of this version in a browser, without a network")
    .argument("[page]", "such as tutorial, flows or errors");
  const read = addOptions(command, { print: flag("--print", "only print where it is") });
  command.action((page: string | undefined, typed: TypedFlags) =>
    call(async (io) => (await import("./docs.ts")).docs(io, page, read(typed))),
  );
}
