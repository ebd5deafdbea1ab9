// Registers `help`: the help of a command, or the table of exit codes.

import type { Command } from "commander";
import { usageError } from "../../errors.ts";
import { EXIT_CODES } from "../../help-text.ts";

export function addHelp(program: Command): void {
  program
    .command("help")
    .description("help on a command, or: help exit-codes")
    .argument("[topic...]")
    .action((topic: readonly string[]) => showHelp(program, topic));
}

function showHelp(program: Command, topic: readonly string[]): void {
  if (topic[0] === "exit-codes") {
    process.stdout.write(EXIT_CODES);
    return;
  }
  let command = program;
  for (const word of topic) {
    const found = command.commands.find((each) => each.name() === word);
    if (found === undefined)
      throw usageError(
        "unknown_topic",
        `There is no help on "${topic.join(" ")}".`,
        "passrail --help   or   passrail help exit-codes",
      );
    command = found;
  }
  command.outputHelp();
}
