// Registers `mcp`.

import type { Command } from "commander";
import type { CommandContext } from "../../context.ts";
import { addOptions, flag, text, type TypedFlags } from "../../options.ts";

export function addMcp(program: Command, { call }: CommandContext): void {
  const command = program
    .command("mcp")
    .description("an MCP server on standard input and output, for your own agent to inspect runs");
  const read = addOptions(command, {
    operator: flag("--operator", "also let it start, answer and cancel in your name", (option) =>
      option.conflicts("tokenFile"),
    ),
    tokenFile: text("--token-file <file>", "use the rights of this token, as PASSRAIL_TOKEN does"),
    url: text("--url <url>", "another daemon than that of the state folder; needs a token for it"),
  });
  command.action((typed: TypedFlags) => call(async (io) => (await import("./mcp.ts")).mcp(io, read(typed))));
}
