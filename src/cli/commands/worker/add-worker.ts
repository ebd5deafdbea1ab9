// Registers `worker --join` and `worker list|drain|cordon|open`.

import type { Command } from "commander";
import type { CommandContext } from "../../context.ts";
import { addOptions, flag, list, text, textOr, type TypedFlags } from "../../options.ts";

const NAME = "see: passrail worker list";

export function addWorker(program: Command, { call, version }: CommandContext): void {
  const worker = program
    .command("worker")
    .description("carry out attempts of a node on another machine; look after workers");
  const read = addOptions(worker, {
    join: list(
      "--join <url>",
      "the node: https://host:port (repeatable: every node of a database; it follows the one that performs)",
    ),
    tokenFile: text("--token-file <file>", "a file with the token of: passrail key create NAME --scope worker"),
    slots: textOr("--slots <n>", "how many attempts at once, 1 to 100", "1"),
    labels: text("--labels <list>", "what this machine has, such as gpu,mac"),
    name: text("--name <name>", "the worker's name (default: the name of this machine)"),
    project: list("--project <id=path>", "use this repository for a project instead of a clone (repeatable)"),
    dangerouslyUnencrypted: flag(
      "--dangerously-unencrypted",
      "send the token and the work over plain HTTP to another machine",
    ),
  });
  worker.action((typed: TypedFlags) =>
    call(async (io) => (await import("./join.ts")).joinNode(io, version, read(typed))),
  );
  worker
    .command("list")
    .description("list the daemon and the workers that have joined it: slots, labels, last sign of life, work")
    .action(() => call(async (io) => (await import("./worker.ts")).workerList(io)));
  const steered = [
    ["cordon", "cordoned", "give a worker no new attempts; it finishes those that it has"],
    ["drain", "draining", "the same, and the worker leaves when it is done"],
    ["open", "open", "give a worker attempts again"],
  ] as const;
  for (const [name, state, description] of steered)
    worker
      .command(name)
      .description(description)
      .argument("<worker>", NAME)
      .action((which: string) => call(async (io) => (await import("./worker.ts")).workerSteer(io, which, state)));
}
