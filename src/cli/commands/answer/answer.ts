// `gate`, `ask`, `escalation` and `budget`: a person answers an inbox item. Repeating the same answer changes nothing.

import { type AnswerRequest, checkAnswer, type Answered } from "../../../app/answer-item.ts";
import { commitOf } from "../../../app/commit-of.ts";
import type { AppProblem, ClosingDecision } from "../../../app/problem.ts";
import { optional } from "../../../core/optional.ts";
import type { Result } from "../../../core/result.ts";
import { asksAtWork, asksPermission, type InboxItem } from "../../../core/run/run.ts";
import { findDaemon } from "../../../daemon/note.ts";
import { systemClock } from "../../../engine/clock.ts";
import { CliError, EXIT, usageError } from "../../errors.ts";
import { type ChosenItem, chooseItem, type AnsweredKind } from "../../find-run.ts";
import { askInPlace } from "../../ask-in-place.ts";
import { gateLines, tellGate } from "../../gate-lines.ts";
import { requireOperator } from "../../operator.ts";
import { printPhases, printRest } from "../../report.ts";
import { withReader } from "../../reader.ts";
import { exitOf, workOn } from "../../session.ts";
import type { Io } from "../../terminal/io.ts";
import { answersTo } from "../../../core/view/item-text.ts";
import { reachedAgent } from "../../../core/view/live-wait.ts";
import { whyOf } from "../../terminal/run-view.ts";
import { TERMINAL_RULES } from "../../terminal-rules.ts";

export async function gateAnswer(
  io: Io,
  answer: "approve" | "revise" | "reject",
  reference: string | undefined,
  { comment = "", commit }: { readonly comment?: string; readonly commit?: string },
): Promise<number> {
  requireOperator(io, `gate ${answer}`);
  if (commit !== undefined && !/^[0-9a-f]{7,64}$/u.test(commit))
    throw usageError("commit_invalid", "--commit: at least 7 digits of a commit's id.");
  return answerItem(io, {
    kind: "gate",
    reference,
    answer: () => answer,
    text: comment,
    ...optional({ commit }),
    said: { approve: "approved", revise: "sent back", reject: "rejected" }[answer],
  });
}

/** With one word it is the answer to the only open question; with a choice it is the item. */
export async function askAnswer(io: Io, words: readonly string[], choice: string | undefined): Promise<number> {
  requireOperator(io, "ask answer");
  const [first, second] = words;
  const isItem = second !== undefined || choice !== undefined;
  const text = second ?? (isItem ? "" : (first ?? ""));
  if (!isItem && /^(#?[0-9]+|r[0-9a-f]{10})\.[0-9]+$/u.test(text)) {
    throw usageError("answer_missing", `The answer to ${text} is missing.`, `passrail ask answer ${text} "…"`);
  }
  const reference = isItem ? first : undefined;
  return answerItem(io, {
    kind: "question",
    reference,
    answer: (item) => wordFor(item, text, choice),
    text,
    said: "answered",
  });
}

export async function escalationChoose(
  io: Io,
  first: string,
  second: string | undefined,
  note: string,
): Promise<number> {
  requireOperator(io, "escalation choose");
  const [reference, choice] = second === undefined ? [undefined, first] : [first, second];
  return answerItem(io, { kind: "escalation", reference, answer: () => choice, text: note, said: `chose ${choice}` });
}

export type TypedAnswer = {
  readonly kind: AnsweredKind;
  readonly reference: string | undefined;
  /** The answer by word; "" for a free text. */
  readonly answer: (item: Pick<InboxItem, "kind"> & { readonly choices?: object }) => string;
  readonly text: string;
  /** The past participle for the report: approved, sent back. */
  readonly said: string;
  /** The commit that was looked at; without it the present one is meant. */
  readonly commit?: string;
};

export async function answerItem(io: Io, typed: TypedAnswer): Promise<number> {
  const chosen = await withReader(io, (store) => chooseItem(store, typed.reference, typed.kind));
  if (chosen.type === "none") throw notWaiting(chosen, typed.kind, null);
  const request = requestOf(chosen, typed);
  // Looked at before anything is opened for work: a wrong answer has no effect at all.
  const checked = await withReader(io, async (store) =>
    store === undefined
      ? undefined
      : checkAnswer({ store, commitOf: (run) => commitOf(store, run), now: () => systemClock.now() }, request),
  );
  if (checked?.ok === false) throw refused(checked.error, chosen, typed);
  if (checked?.value.type === "already") return already(io, chosen, checked.value, typed);
  if ((typed.kind === "gate" || typed.kind === "escalation") && !io.json && !io.quiet)
    for (const line of await gateLines(io, chosen.run)) io.err(line);
  let answered: Result<Answered, AppProblem> | undefined;
  // A daemon continues the run as this command would; any other performing process reports on its own. A raised budget
  // may release many runs, for hours: the daemon performs them, and the command ends. The same holds when an agent at
  // work asked.
  const isAtWork = checked?.value.type === "fits" && isAskedAtWork(checked.value.item);
  const follow = typed.kind !== "budget" && !isAtWork && findDaemon(io.home) !== undefined;
  const worked = await workOn(io, {
    runId: chosen.run.id,
    flags: {},
    follow,
    stream: false,
    lines: "err",
    act: async ({ app, person }) => {
      answered = await app.answerItem(request, { actor: person });
      return answered.ok && answered.value.type === "answered";
    },
  });
  if (answered?.ok === false) throw refused(answered.error, chosen, typed);
  if (answered?.value.type === "already") return already(io, chosen, answered.value, typed);
  const rest = worked.performedBy === null || follow ? await askInPlace(io, worked, {}) : worked;
  const exit = rest.performedBy === null || follow ? exitOf(rest.run, EXIT.ok) : EXIT.ok;
  const { item, summary } = chosen;
  await printPhases(io, rest.run);
  await printRest(io, rest, {
    stream: false,
    exit,
    did: `${item.kind} ${item.stage} of #${summary.number} ${typed.said}${whereTo(answered?.value)}`,
  });
  await tellGate(io, rest.run);
  return exit;
}

function isAskedAtWork(item: InboxItem): boolean {
  return asksPermission(item) || asksAtWork(item);
}

/** An answer that found its agent at work. */
function whereTo(answered: Answered | undefined): string {
  const isInPlace = answered?.type === "answered" && reachedAgent(answered.run, answered.item.number);
  return isInPlace ? "; it reached the agent while it worked" : "";
}

type KnownItem = Exclude<ChosenItem, { type: "none" }>;

function requestOf({ run, item }: KnownItem, { answer, text, commit }: TypedAnswer): AnswerRequest {
  return {
    item: `${run.id}.${item.number}`,
    answer: answer(item),
    text,
    issues: [],
    seen: commit === undefined ? { type: "anything" } : { type: "commit", commit, orNone: false },
    rules: TERMINAL_RULES,
  };
}

async function already(
  io: Io,
  { summary, item }: KnownItem,
  { run, decided }: Pick<Extract<Answered, { type: "already" }>, "run" | "decided">,
  { kind, said }: TypedAnswer,
): Promise<number> {
  const who = decided.by.replace(/^human:/u, "");
  const did = `${kind} ${item.stage} of #${summary.number} was already ${said} by ${who} at ${decided.at}`;
  if (!io.json && io.plain) io.err(did);
  await printRest(io, { run, performedBy: null }, { stream: false, exit: EXIT.ok, did });
  return EXIT.ok;
}

/** The problem in the words of the command line: its codes name the kind of item, its hints are commands. */
function refused({ code, message, hint, decided }: AppProblem, chosen: KnownItem, { kind }: TypedAnswer): CliError {
  const { summary, item } = chosen;
  const reference = `${summary.number}.${item.number}`;
  const commands = chosen.type === "open" ? answersTo(chosen.item, reference).join("\n") : "";
  if (code === "gate_not_waiting" || code === "item_not_waiting") return notWaiting(chosen, kind, decided ?? null);
  if (code === "answer_unknown" || code === "answer_empty" || code === "amount_invalid") {
    const isChoice = code === "answer_unknown" && (item.kind === "choice" || item.kind === "escalation");
    return usageError(isChoice ? "choice_unknown" : code, message, commands);
  }
  const show = `passrail runs show ${summary.number}`;
  if (code === "version_mismatch") return new CliError(code, message, `Look at it again: ${show}`);
  if (code !== "action_refused") return new CliError(code, message, hint ?? show);
  return new CliError(`${kind}_refused`, `${item.kind} ${item.stage} was not answered. ${message}`);
}

function notWaiting(chosen: ChosenItem, kind: AnsweredKind, decided: ClosingDecision | null): CliError {
  const { run, summary } = chosen;
  const number = chosen.type === "none" ? chosen.number : chosen.item.number;
  const what =
    number === null ? `#${summary.number} has no open ${kind}` : `${kind} ${summary.number}.${number} is not open`;
  const before = decided === null ? "" : `; it was answered: ${decided.answer === "" ? decided.text : decided.answer}`;
  const why = whyOf(run);
  return new CliError(
    `${kind}_not_waiting`,
    `${what}${before}.`,
    `The run is ${run.status} (${run.word})${why === "" ? "" : `: ${why}`}\npassrail runs show ${summary.number}`,
  );
}

/** A question may offer choices; then the text may be one of them. Of a closed item the choices are not known any more. */
function wordFor(
  { kind, choices }: Pick<InboxItem, "kind"> & { readonly choices?: object },
  text: string,
  choice: string | undefined,
): string {
  if (choice !== undefined) return choice;
  return kind === "choice" && (choices === undefined || Object.hasOwn(choices, text)) ? text : "";
}
