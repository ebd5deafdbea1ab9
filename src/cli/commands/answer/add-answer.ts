// Registers `inbox`, and the commands that answer its items: `gate`, `ask`, `escalation` and `budget`.

import type { Command } from "commander";
import type { CommandContext } from "../../context.ts";
import { ITEM } from "../../help-text.ts";
import { addOptions, text, type TypedFlags } from "../../options.ts";

const FOR_NEXT = "goes into the record and into the next attempt's prompt";

export function addAnswer(program: Command, context: CommandContext): void {
  const { call } = context;
  program
    .command("inbox")
    .description("list what waits for a person")
    .action(() => call(async (io) => (await import("./inbox.ts")).inbox(io)));
  addGate(program, context);
  addAsk(program, context);
  addEscalation(program, context);
  addBudget(program, context);
}

function addGate(program: Command, { call }: CommandContext): void {
  const gate = program.command("gate").description("answer a gate");
  const answers = {
    approve: "let the run continue",
    revise: "send the work back",
    reject: "reject the work",
  } as const;
  for (const answer of ["approve", "revise", "reject"] as const) {
    const command = gate.command(answer).description(answers[answer]).argument("[item]", ITEM);
    const read = addOptions(command, {
      comment: text("--comment <text>", FOR_NEXT),
      commit: text("--commit <id>", "only if the work is still at this commit"),
    });
    command.action((item: string | undefined, typed: TypedFlags) =>
      call(async (io) => (await import("./answer.ts")).gateAnswer(io, answer, item, read(typed))),
    );
  }
}

function addAsk(program: Command, { call }: CommandContext): void {
  const command = program
    .command("ask")
    .description("answer a question of an agent")
    .command("answer")
    .description("give the answer")
    .usage('[item] "text" | [item] --choice CHOICE')
    .argument("[item]", ITEM)
    .argument("[text]", "the answer");
  const read = addOptions(command, { choice: text("--choice <choice>", "one of the choices that are offered") });
  command.action((item: string | undefined, answer: string | undefined, typed: TypedFlags) => {
    const words = [item, answer].filter((word) => word !== undefined);
    return call(async (io) => (await import("./answer.ts")).askAnswer(io, words, read(typed).choice));
  });
}

function addEscalation(program: Command, { call }: CommandContext): void {
  const command = program
    .command("escalation")
    .description("decide an escalation")
    .command("choose")
    .description("take one of its choices")
    .usage("[item] <choice>")
    .argument("<item>", ITEM)
    .argument("[choice]", "one of the choices that are offered");
  const read = addOptions(command, { note: text("--note <text>", FOR_NEXT) });
  command.action((first: string, second: string | undefined, typed: TypedFlags) =>
    call(async (io) => (await import("./answer.ts")).escalationChoose(io, first, second, read(typed).note ?? "")),
  );
}

function addBudget(program: Command, { call }: CommandContext): void {
  const budget = program.command("budget").description("decide about a run that has reached its budget");
  const raise = budget.command("raise").description("raise the limit for this run").argument("[item]", ITEM);
  const read = addOptions(raise, {
    by: text("--by <amount>", "5 usd or 200000 tokens (default: the limit's own size)"),
  });
  raise.action((item: string | undefined, typed: TypedFlags) =>
    call(async (io) => (await import("./budget.ts")).budgetAnswer(io, "raise", item, read(typed).by ?? "")),
  );
  budget
    .command("stop")
    .description("stop the run; you can retry it later")
    .argument("[item]", ITEM)
    .action((item: string | undefined) =>
      call(async (io) => (await import("./budget.ts")).budgetAnswer(io, "stop", item, "")),
    );
}
