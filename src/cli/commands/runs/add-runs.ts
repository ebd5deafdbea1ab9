// Registers `runs list|show|diff|watch|logs|events|export|import`, and the commands that control a run.

import type { Command } from "commander";
import type { CommandContext } from "../../context.ts";
import { RUN } from "../../help-text.ts";
import {
  addOptions,
  type DeclaredOption,
  flag,
  list,
  requiredText,
  text,
  textOr,
  type TypedFlags,
} from "../../options.ts";
import type { Control, ControlOptions } from "./control.ts";

export function addRuns(program: Command, context: CommandContext): void {
  const runs = program.command("runs").description("list, inspect and control runs");
  addList(runs, context);
  addShow(runs, context);
  addDiff(runs, context);
  addWatch(runs, context);
  addLogs(runs, context);
  addEvents(runs, context);
  addExport(runs, context);
  addImport(runs, context);
  addSteer(runs, context);
  addTakeover(runs, context);
  addHandback(runs, context);
  addBudget(runs, context);
  for (const verb of Object.keys(CONTROLS) as Control[]) addControl(runs, context, verb);
}

function addList(runs: Command, { call }: CommandContext): void {
  const command = runs.command("list").description("list runs, newest first");
  const read = addOptions(command, {
    status: text("--status <word>", "only runs with this status, or the flow's own word for it"),
    flow: text("--flow <name>", "only runs of this flow"),
    limit: textOr("--limit <n>", "maximum number", "50"),
    before: text("--before <number>", "only runs with a lower number"),
  });
  command.action((typed: TypedFlags) => call(async (io) => (await import("./list.ts")).runsList(io, read(typed))));
}

function addShow(runs: Command, { call }: CommandContext): void {
  const command = runs
    .command("show")
    .description("show one run with its stages, attempts, counters and open items")
    .argument("<run>", RUN);
  const read = addOptions(command, {
    attempt: text("--attempt <stage#n>", "one attempt; without a number the stage's last"),
    prompt: flag("--prompt", "the attempt's prompt"),
    output: flag("--output", "the attempt's output"),
    verdict: flag("--verdict", "the attempt's verdict"),
    diff: flag("--diff", "the attempt's diff"),
    handoff: flag("--handoff", "the attempt's handoff"),
    tape: flag("--tape", "the attempt's requests to models, where a gateway recorded them"),
  });
  command.action((run: string, typed: TypedFlags) =>
    call(async (io) => (await import("./show.ts")).runsShow(io, run, read(typed))),
  );
}

function addDiff(runs: Command, { call }: CommandContext): void {
  const command = runs.command("diff").description("print all committed changes of a run").argument("<run>", RUN);
  const read = addOptions(command, { stat: flag("--stat", "only the files and how many lines changed") });
  command.action((run: string, typed: TypedFlags) =>
    call(async (io) => (await import("./diff.ts")).runsDiff(io, run, read(typed))),
  );
}

function addWatch(runs: Command, { call }: CommandContext): void {
  const command = runs
    .command("watch")
    .description("follow a run until it stops or needs you; resumes it if no process is running it")
    .argument("<run>", RUN);
  const read = addOptions(command, { exitStatus: flag("--exit-status", "exit with the code of the run's state") });
  command.action((run: string, typed: TypedFlags) =>
    call(async (io) => (await import("./watch.ts")).runsWatch(io, run, read(typed))),
  );
}

function addLogs(runs: Command, { call }: CommandContext): void {
  const command = runs
    .command("logs")
    .description("print the raw output of an attempt, or with --story what its agent said and did")
    .argument("<run>", RUN);
  const read = addOptions(command, {
    stage: text("--stage <stage#n>", "the attempt; without a number the stage's last (default: the run's last)"),
    check: text("--check <name>", "the output of this check, which Passrail ran after the attempt"),
    story: flag("--story", "messages, tool calls and results in words, as the dashboard's Activity shows them"),
    follow: flag("-f, --follow", "until the attempt ends"),
  });
  command.action((run: string, typed: TypedFlags) =>
    call(async (io) => (await import("./watch.ts")).runsLogs(io, run, read(typed))),
  );
}

function addEvents(runs: Command, { call }: CommandContext): void {
  const command = runs.command("events").description("print a run's history, event by event").argument("<run>", RUN);
  const read = addOptions(command, { follow: flag("-f, --follow", "until the run ends") });
  command.action((run: string, typed: TypedFlags) =>
    call(async (io) => (await import("./watch.ts")).runsEvents(io, run, read(typed))),
  );
}

function addExport(runs: Command, { call }: CommandContext): void {
  const command = runs
    .command("export")
    .description("write a run with its events, files, tapes and commits into one file, for another machine")
    .argument("<run>", RUN);
  const read = addOptions(command, {
    out: text("--out <file>", "the file to write (default: <run>.passrail-run here)"),
  });
  command.action((run: string, typed: TypedFlags) =>
    call(async (io) => (await import("./transfer.ts")).runsExport(io, run, read(typed))),
  );
}

function addImport(runs: Command, { call }: CommandContext): void {
  runs
    .command("import")
    .description("take in a run from a file of `runs export`, for looking at and for `passrail replay`")
    .argument("<file>", "the file")
    .action((file: string) => call(async (io) => (await import("./transfer.ts")).runsImport(io, file)));
}

function addSteer(runs: Command, { call }: CommandContext): void {
  const command = runs
    .command("steer")
    .description("say something to the agent at work; what became of it is in `runs show`")
    .argument("<run>", RUN)
    .argument("<text>", "the message");
  const read = addOptions(command, { stage: stage() });
  command.action((run: string, message: string, typed: TypedFlags) =>
    call(async (io) => (await import("./steer.ts")).steer(io, run, message, read(typed))),
  );
}

function addTakeover(runs: Command, { call }: CommandContext): void {
  const command = runs
    .command("takeover")
    .description("end the agent at work and continue in its session and its folder yourself")
    .argument("<run>", RUN);
  const read = addOptions(command, {
    stage: stage(),
    print: flag("--print", "print the command that opens the session instead of starting it"),
  });
  command.action((run: string, typed: TypedFlags) =>
    call(async (io) => (await import("./takeover.ts")).takeover(io, run, read(typed))),
  );
}

function addHandback(runs: Command, { call }: CommandContext): void {
  const command = runs
    .command("handback")
    .description("hand a stage that you took over back to its agent, with your changes as a commit")
    .argument("<run>", RUN);
  const read = addOptions(command, {
    note: text("--note <text>", "what you did and what remains, for the agent"),
    discard: flag("--discard", "without your changes; they are kept under a ref"),
  });
  command.action((run: string, typed: TypedFlags) =>
    call(async (io) => (await import("./takeover.ts")).handback(io, run, read(typed))),
  );
}

function addBudget(runs: Command, { call }: CommandContext): void {
  const command = runs
    .command("budget")
    .description("set what the whole run may cost, more or less than the settings say")
    .argument("<run>", RUN);
  const read = addOptions(command, {
    usd: text("--usd <amount>", "the new limit in dollars"),
    tokens: text("--tokens <count>", "the new limit in tokens"),
  });
  command.action((run: string, typed: TypedFlags) =>
    call(async (io) => (await import("./budget.ts")).budget(io, run, read(typed))),
  );
}

type ControlHelp = {
  readonly help: string;
  readonly options: () => { readonly [K in keyof ControlOptions]: DeclaredOption<ControlOptions[K]> };
};

const reason = () => text("--reason <text>", "why; goes into the record");
const note = () => text("--note <text>", "a note for the next attempt's prompt");
const all = () => flag("--all", "everything: every open run, and for pause also the runs that are started later");
const stage = () => text("--stage <stage>", "which stage, if several are current");

const CONTROLS: Readonly<Record<Control, ControlHelp>> = {
  cancel: { help: "end a run and its agents", options: () => ({ reason: reason() }) },
  pause: {
    help: "start no more stages; agents that are running may finish",
    options: () => ({ reason: reason(), all: all() }),
  },
  stop: {
    help: "end the agents that are working now, and pause the run",
    options: () => ({ reason: reason(), stage: stage() }),
  },
  resume: { help: "continue a paused run", options: () => ({ all: all() }) },
  retry: {
    help: "run the current stage again, with the settings as they are now",
    options: () => ({
      note: note(),
      stage: stage(),
      agent: list("--agent <stage=runner>", "another agent for this stage or agent, for the rest of the run"),
      model: list("--model <stage=model>", "another model for this stage or agent, for the rest of the run"),
    }),
  },
  rerun: {
    help: "go back to an earlier stage and continue from there",
    options: () => ({ note: note(), from: requiredText("--from <stage>", "the earlier stage") }),
  },
  undo: { help: "take back what landed although the run was canceled", options: () => ({}) },
  skip: { help: "continue without the current stage", options: () => ({ reason: reason(), stage: stage() }) },
};

function addControl(runs: Command, { call }: CommandContext, verb: Control): void {
  const { help, options } = CONTROLS[verb];
  const mayBeAll = verb === "pause" || verb === "resume";
  const command = runs
    .command(verb)
    .description(help)
    .argument(mayBeAll ? "[run]" : "<run>", RUN);
  const read = addOptions(command, options());
  command.action((run: string | undefined, typed: TypedFlags) =>
    call(async (io) => (await import("./control.ts")).control(io, verb, run, read(typed))),
  );
}
