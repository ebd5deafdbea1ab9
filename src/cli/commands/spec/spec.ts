// `spec "<request>"`: turns a request into tickets. Starts a run of the intake flow, asks the person the agent's questions, and lists the
// files that it created. Without a terminal, or if this command ends early, the questions stay in the inbox.

import { loadSettings } from "../../../settings/load.ts";
import { type CannotStart, cannotStart, cannotStartLines } from "../../../core/ticket/cannot-start.ts";
import { openItems, type InboxItem, type Run } from "../../../core/run/run.ts";
import { answerText, type PreparedAnswers } from "../../../ticket/intake/answers.ts";
import { createdPaths } from "../../../ticket/intake/created.ts";
import { readAnswersFile } from "./answers-file.ts";
import { type Asked, askInTerminal, canAsk } from "../../terminal/ask-in-terminal.ts";
import { CliError, EXIT, problemError } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";
import { requireOperator } from "../../operator.ts";
import { printJson } from "../../terminal/output.ts";
import { oneLine, plainText } from "../../terminal/plain-text.ts";
import { standingOf } from "../../report.ts";
import { withReader } from "../../reader.ts";
import { exitOf, type Rest, workOn } from "../../session.ts";
import { ensureTrusted } from "../../trust.ts";
import { TERMINAL_RULES } from "../../terminal-rules.ts";
import { planRun } from "../run/run.ts";
import { readTickets } from "../ticket/read-tickets.ts";

export type SpecOptions = { readonly agent: readonly string[]; readonly answers?: string };

type Question = InboxItem & { readonly kind: "question" };

export async function spec(io: Io, words: readonly string[], options: SpecOptions): Promise<number> {
  requireOperator(io, "spec");
  const request = words.join(" ").trim();
  // 1, as in the source of this command; others exit with 2.
  if (request === "")
    throw new CliError("request_missing", "The request is missing.", 'Usage: passrail spec "<request>"');
  const answers = options.answers === undefined ? undefined : await readAnswersFile(io, options.answers);
  await ensureTrusted(io);
  const config = await loadSettings({ home: io.home, environment: io.environment, project: io.cwd, flags: {} });
  if (!config.ok) throw problemError(config.error, EXIT.usage);
  const plan = await planRun(io, config.value.tickets.intakeFlow, request, { agent: options.agent, input: [] });
  const { runId, flags } = plan;
  const job = { runId, flags, follow: true, stream: false, lines: "err" } as const;
  let rest = await workOn(io, {
    ...job,
    act: async ({ app, store, person }) => {
      const started = await app.startRun(plan, person);
      if (!started.ok) throw problemError(started.error);
      const [summary] = await store.findRuns(runId);
      if (!io.json && !io.quiet)
        io.err(plainText(`#${summary?.number ?? "?"} ${plan.resolved.flow.name}: ${oneLine(request, 100)}`));
      return true;
    },
  });
  let answered = 0;
  for (;;) {
    const item = questionOf(rest.run);
    if (item === undefined || item.number === answered) break;
    answered = item.number;
    const number = await numberOf(io, runId);
    const said = await sayTo(io, item, `${number}.${item.number}`, answers);
    if (said === undefined) break;
    rest = await workOn(io, {
      ...job,
      act: async ({ app, person }) => {
        const question = `${runId}.${item.number}`;
        const given = { answer: "", text: said, issues: [] };
        const request = { item: question, ...given, seen: { type: "anything" }, rules: TERMINAL_RULES } as const;
        const answered = await app.answerItem(request, { actor: person });
        // Another person may have answered in the inbox meanwhile: then that answer counts, and the run has moved on.
        if (!answered.ok && answered.error.code !== "item_not_waiting") throw problemError(answered.error);
        return true;
      },
    });
  }
  return tellEnd(io, rest);
}

function questionOf(run: Run): Question | undefined {
  return run.status === "waiting"
    ? openItems(run).find((item): item is Question => item.kind === "question")
    : undefined;
}

/** From the file, then from the person; undefined where the question stays in the inbox. */
async function sayTo(
  io: Io,
  { questions }: Question,
  reference: string,
  answers: PreparedAnswers | undefined,
): Promise<string | undefined> {
  const known = answers?.next(questions) ?? questions.map(() => null);
  const whole = known.filter((answer) => answer !== null);
  if (whole.length === questions.length) return answerText(whole);
  if (canAsk(io)) {
    const asked: Asked = await askInTerminal(questions, known);
    if (asked.type === "answered") return answerText(asked.answers);
    if (asked.type === "interrupted")
      throw new CliError(
        "interrupted",
        "Stopped by SIGINT. The questions wait in the inbox.",
        `passrail ask answer ${reference} "…"   continues`,
        EXIT.interrupted,
      );
  } else if (whole.length > 0) {
    const missing = known.flatMap((answer, at) => (answer === null ? [String(at + 1)] : []));
    io.err(
      `! The answers file has no answer to question ${missing.join(", ")}; all questions of this round wait in the inbox.`,
    );
  }
  return undefined;
}

async function tellEnd(io: Io, { run, performedBy }: Rest): Promise<number> {
  const number = await numberOf(io, run.id);
  if (run.status === "stopped")
    throw new CliError(
      "no_tickets",
      `No ticket was written: ${oneLine(await whyNone(io, run), 500)}.`,
      `passrail runs show ${number}    shows what the agent said\npassrail runs retry ${number}   lets it try again`,
    );
  const paths = await withReader(io, async (store) =>
    store === undefined ? [] : createdPaths(await store.attempts(run.id)),
  );
  const exit = run.status === "canceled" ? EXIT.unsuccessful : exitOf(run);
  const stuck = paths.length === 0 ? [] : await stuckOf(io, paths);
  if (io.json) {
    const by = performedBy === null ? {} : { performedBy };
    printJson(io, { ...standingOf(run, number), ...by, tickets: paths, cannotStart: stuck });
  } else if (run.status === "completed") {
    if (!io.quiet) io.out(`Created ${paths.length} ticket(s):`);
    for (const path of paths) io.out(io.quiet ? path : `  - ${path}`);
    for (const line of cannotStartLines(stuck)) io.err(plainText(line));
  } else {
    const { why } = standingOf(run, number);
    io.err(plainText(`#${number} is ${run.status}: ${oneLine(why, 300)}`));
    for (const { number: item } of openItems(run))
      io.err(`  passrail ask answer ${number}.${item} "…"   continues and writes the tickets`);
  }
  return exit;
}

/** Of the new tickets, those that `work` would not start. */
async function stuckOf(io: Io, paths: readonly string[]): Promise<readonly CannotStart[]> {
  const { scan, plan } = await readTickets(io);
  const created = new Set(paths);
  return cannotStart(scan, plan).filter(({ path }) => created.has(path));
}

/** The agent's act instead, where the run only reports that it did not write. */
async function whyNone(io: Io, run: Run & { readonly status: "stopped" }): Promise<string> {
  const attempts = await withReader(io, async (store) => (await store?.attempts(run.id)) ?? []);
  const questions = attempts.findLast(({ status }) => status === "done")?.outcome?.["questions"];
  if (!Array.isArray(questions) || questions.length === 0) return run.reason;
  return `the agent asked again after the last round: ${questions.map(String).join(" ")}`;
}

async function numberOf(io: Io, runId: string): Promise<number> {
  return withReader(io, async (store) => (await store?.findRuns(runId))?.find(({ id }) => id === runId)?.number ?? 0);
}
