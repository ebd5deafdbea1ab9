// Registers `build-plan`.

import type { Command } from "commander";
import type { CommandContext } from "../../context.ts";
import { RUNNER_HELP, SLOTS_HELP, WORKSPACE_HELP } from "../../help-text.ts";
import { addOptions, flag, list, text, type TypedFlags } from "../../options.ts";
import { START_OPTIONS } from "../run/add-run.ts";

export function addBuildPlan(program: Command, { call }: CommandContext): void {
  const command = program
    .command("build-plan")
    .description("build a plan: the plan's Complexity line picks the flow, and you sign it off first")
    .argument("<spec>", "the file that says what to build and why")
    .argument("<plan>", "the file that says how, with its Complexity: simple, standard or complex")
    .argument("<task>", "the file with the work and its DoD rows");
  const read = addOptions(command, {
    ...START_OPTIONS,
    agent: list("--agent <stage=command>", RUNNER_HELP),
    input: list("--input <name=value>", "a further fact, such as plan.new_infra=true (repeatable)"),
    workspace: text("--workspace <kind>", WORKSPACE_HELP),
    slots: text("--slots <n>", SLOTS_HELP),
    id: text("--id <id>", "the id of the subject, instead of a new one"),
    title: text("--title <title>", "the title, instead of the task's first heading"),
    detach: flag("--detach", "start the run in the background and return"),
  });
  command.action((spec: string, plan: string, task: string, typed: TypedFlags) =>
    call(async (io) => (await import("./build-plan.ts")).buildPlan(io, { spec, plan, task }, read(typed))),
  );
}
