// Registers `flow new|list|show|check|test|graph|schema|explain|simulate`.

import type { Command } from "commander";
import type { CommandContext } from "../../context.ts";
import { addOptions, flag, list, text, type TypedFlags } from "../../options.ts";

export function addFlow(program: Command, context: CommandContext): void {
  const { call } = context;
  const flow = program.command("flow").description("list, show, check and simulate flows");
  addNew(flow, context);
  flow
    .command("list")
    .description("list the shipped flows and those of the project")
    .action(() => call(async (io) => (await import("./flow.ts")).flowList(io)));
  flow
    .command("show")
    .description("describe a flow")
    .argument("<flow>")
    .action((name: string) => call(async (io) => (await import("./flow.ts")).flowShow(io, name)));
  flow
    .command("check")
    .description("check flows by name or file (default: all)")
    .argument("[flows...]")
    .action((names: readonly string[]) => call(async (io) => (await import("./check.ts")).flowCheck(io, names)));
  flow
    .command("test")
    .description("play the cases of .passrail/flow-tests/FLOW.yaml and compare where each ends (default: all files)")
    .argument("[flows...]")
    .action((names: readonly string[]) => call(async (io) => (await import("./flow-tests.ts")).flowTest(io, names)));
  flow
    .command("graph")
    .description("print a flow as a Mermaid graph")
    .argument("<flow>")
    .action((name: string) => call(async (io) => (await import("./flow.ts")).flowGraph(io, name)));
  flow
    .command("schema")
    .description("print the JSON Schema of flow files, for editors")
    .action(() => call(async (io) => (await import("./flow.ts")).flowSchema(io)));
  flow
    .command("explain")
    .description("how a router would treat a task: the agents it may choose, and the rule that fires; no model runs")
    .argument("<flow>", "a flow or its alias, such as pipeline")
    .argument("<task>", "the task; - reads standard input")
    .action((name: string, task: string) =>
      call(async (io) => (await import("./explain.ts")).flowExplain(io, name, task)),
    );
  addSimulate(flow, context);
}

function addNew(flow: Command, { call }: CommandContext): void {
  const command = flow
    .command("new")
    .description("begin a flow of your own from a recipe of the cookbook, with cases that test it")
    .argument("[name]", "the name of the new flow (default: the recipe's)");
  const read = addOptions(command, {
    from: text("--from <recipe>", "the recipe to begin with; on a terminal you are asked"),
    list: flag("--list", "list the recipes"),
  });
  command.action((name: string | undefined, typed: TypedFlags) =>
    call(async (io) => (await import("./new.ts")).flowNew(io, name, read(typed))),
  );
}

function addSimulate(flow: Command, { call }: CommandContext): void {
  const command = flow
    .command("simulate")
    .description("play a flow without agents: asks what happens, or takes a list of outcomes")
    .argument("<flow>");
  const read = addOptions(command, {
    outcomes: text("--outcomes <file>", "the list of outcomes; - reads standard input (default: asks at the terminal)"),
    input: list("--input <name=value>", "a fact for the flow's conditions (repeatable)"),
  });
  command.action((name: string, typed: TypedFlags) =>
    call(async (io) => (await import("./simulate.ts")).flowSimulate(io, name, read(typed))),
  );
}
