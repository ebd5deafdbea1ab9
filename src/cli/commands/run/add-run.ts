// Registers `run`, and the hidden command that a detached run starts with.

import type { Command } from "commander";
import type { CommandContext } from "../../context.ts";
import { KEY_HELP } from "../../idempotency-key.ts";
import { RUNNER_HELP, SLOTS_HELP, WORKSPACE_HELP } from "../../help-text.ts";
import { addOptions, flag, list, text, type TypedFlags } from "../../options.ts";

/** For flows that name files and check repositories before they start. */
export const START_OPTIONS = {
  repo: list(
    "--repo <folder>",
    "a folder that is a repository of its own and part of the work (repeatable); or name=folder of a part that the flow names",
  ),
  allowDirty: flag("--allow-dirty", "start although files are not committed; agents get the committed ones"),
  allowBranch: flag("--allow-branch", "start from the current branch although it is not the base branch"),
};

export function addRun(program: Command, { call }: CommandContext): void {
  const command = program
    .command("run")
    .description("start a run and follow it until it stops or needs you")
    .argument(
      "<flow>",
      "a flow, an alias such as pipeline, a family such as build-plan, or an agent that works alone (passrail flow list); a task alone goes through the flow quick",
    )
    .argument("[words...]", "the task, or a project and the task; - reads the task from standard input");
  const read = addOptions(command, {
    ...START_OPTIONS,
    ticket: text("--ticket <file>", "read the task from a Markdown file"),
    agent: list("--agent <stage=command>", RUNNER_HELP),
    model: list("--model <stage=model>", "the model of a stage, an agent or * in this run (repeatable)"),
    usd: text("--usd <amount>", "what the whole run may cost in dollars, instead of the settings' budget of a run"),
    tokens: text("--tokens <amount>", "what the whole run may use in tokens"),
    dryRun: flag("--dry-run", "show what would run, with every check of a start, and start nothing"),
    input: list("--input <name=value>", "a fact for the flow's conditions (repeatable)"),
    workspace: text("--workspace <kind>", WORKSPACE_HELP),
    slots: text("--slots <n>", SLOTS_HELP),
    memo: flag("--no-memo", "let agents do every stage, also where the flow's memo has its result"),
    checkCache: flag("--no-check-cache", "run every check, also where its result on the same files is known"),
    id: text("--id <id>", "the id of the subject, instead of a new one"),
    idempotencyKey: text("--idempotency-key <key>", KEY_HELP),
    title: text("--title <title>", "the title, instead of the first line of the task"),
    adoptBranch: flag("--adopt-branch", "work on the flow's branch although it exists and Passrail did not make it"),
    wait: flag("--wait", "follow the run (the default)", (option) => option.conflicts("detach")),
    detach: flag("--detach", "start the run in the background and return"),
  });
  command.action((flow: string, words: readonly string[], typed: TypedFlags) =>
    call(async (io) => {
      const { placeRun } = await import("./place-run.ts");
      const placed = placeRun(io, flow, words);
      return (await import("./run.ts")).run(placed.io, placed.flow, placed.text, read(typed));
    }),
  );
  program
    .command("start-detached", { hidden: true })
    .argument("<file>")
    .action((file: string) =>
      call(async (io) => {
        const { takePlan } = await import("./detach.ts");
        return (await import("./run.ts")).startRun(io, takePlan(file));
      }),
    );
}
