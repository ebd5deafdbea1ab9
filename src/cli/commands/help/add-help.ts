// Registers `help`: the help of a command, or a text on a topic.

import type { Command } from "commander";
import { nearest } from "../../../core/check/suggest.ts";
import { usageError } from "../../errors.ts";
import { TOPICS } from "../../help-text.ts";

export function addHelp(program: Command): void {
  program
    .command("help")
    .description(`help on a command, or on: ${Object.keys(TOPICS).join(", ")}, errors CODE`)
    .argument("[topic...]")
    .action(async (topic: readonly string[]) => {
      if (topic[0] !== "errors") return showHelp(program, topic);
      const { errorPage } = await import("./error-page.ts");
      process.stdout.write(errorPage(topic[1]));
    });
}

function showHelp(program: Command, topic: readonly string[]): void {
  const [name = ""] = topic;
  if (Object.hasOwn(TOPICS, name)) {
    process.stdout.write(TOPICS[name] ?? "");
    return;
  }
  let command = program;
  for (const word of topic) {
    const found = command.commands.find((each) => each.name() === word);
    if (found === undefined)
      throw usageError(
        "unknown_topic",
        `There is no help on "${topic.join(" ")}".`,
        [
          ...nearestTopic(word, command),
          `passrail --help   or   passrail help TOPIC, with TOPIC one of ${Object.keys(TOPICS).join(", ")}, errors`,
        ].join("\n"),
      );
    command = found;
  }
  command.outputHelp();
}

function nearestTopic(word: string, { commands }: Command): readonly string[] {
  const near = nearest(word, [...Object.keys(TOPICS), "errors", ...commands.map((each) => each.name())]);
  return near === undefined ? [] : [`did you mean "${near}"?`];
}
