// `gate`, `ask` and `escalation`: a person answers an inbox item. Answering twice the same way is fine and changes nothing.

import { readRaise } from "../../core/budget/budget.ts";
import type { InboxItem } from "../../core/run/run.ts";
import type { SignalBody } from "../../core/run/signal.ts";
import { commitOf } from "../../app/commit-of.ts";
import { findDaemon } from "../../daemon/note.ts";
import { CliError, EXIT, usageError } from "../errors.ts";
import { type FoundItem, findItem, type Kind } from "../find-run.ts";
import type { Io } from "../terminal/io.ts";
import { requireOperator } from "../operator.ts";
import { printRest, withReader } from "../report.ts";
import { answersTo, whyOf } from "../terminal/run-view.ts";
import { exitOf, workOn } from "../session.ts";
import { optional } from "../../core/optional.ts";

export async function gateAnswer(
  io: Io,
  answer: "approve" | "revise" | "reject",
  reference: string | undefined,
  { comment, commit }: { readonly comment: string; readonly commit?: string },
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
    answer: (item) => chosen(item, text, choice),
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

export type Wanted = {
  readonly kind: Kind;
  readonly reference: string | undefined;
  /** The answer by word; "" for a free text. Undefined item: it is not open any more. */
  readonly answer: (item: InboxItem | undefined) => string;
  readonly text: string;
  readonly said: string;
  /** The commit that was looked at; without it whatever is there is meant. */
  readonly commit?: string;
};

export async function answerItem(io: Io, wanted: Wanted): Promise<number> {
  const found = await withReader(io, (store) => findItem(store, wanted.reference, wanted.kind));
  if (found.type === "closed") return already(io, found, wanted);
  const { item, run, summary } = found;
  const answer = wanted.answer(item);
  requireOffered(item, answer, wanted.text, `${summary.number}.${item.number}`);
  const commit =
    item.kind === "gate" ? await withReader(io, async (store) => store && commitOf(store, run)) : undefined;
  requireUnmoved(wanted.commit, commit ?? null, summary.number);
  const signal: SignalBody = {
    type: "item.answered",
    number: item.number,
    kind: item.kind,
    answer,
    text: wanted.text,
    ...(typeof commit === "string" ? { commit } : {}),
  };
  let refused: string | undefined;
  let isRepeated = false;
  // A daemon carries the run on as we would have done; another command that is at work tells about it itself.
  const follow = findDaemon(io.home) !== undefined;
  const rest = await workOn(io, {
    runId: run.id,
    flags: {},
    follow,
    stream: false,
    lines: "err",
    act: async ({ engine, person }) => {
      // The same answer to the same item is one signal, however often it is given.
      const delivery = await engine.deliver(
        run.id,
        signal,
        person,
        `answer:${item.number}:${answer === "" ? "text" : answer}`,
      );
      refused = delivery.ignored;
      isRepeated = delivery.duplicate;
      return refused === undefined;
    },
  });
  if (refused !== undefined) {
    const again = await withReader(io, (store) => findItem(store, `${run.id}.${item.number}`, wanted.kind));
    if (again.type === "closed") return already(io, again, wanted);
    throw new CliError(`${wanted.kind}_refused`, `${item.kind} ${item.stage} was not answered: ${refused}.`);
  }
  const exit = rest.performedBy === null || follow ? exitOf(rest.run, EXIT.ok) : EXIT.ok;
  await printRest(io, rest, {
    stream: false,
    exit,
    did: `${item.kind} ${item.stage} of #${summary.number} ${isRepeated ? "was answered already" : wanted.said}`,
  });
  return exit;
}

/** Who decides about one commit does not decide about another. */
function requireUnmoved(seen: string | undefined, now: string | null, run: number): void {
  if (seen === undefined || now?.startsWith(seen) === true) return;
  const at = now === null ? "it has no commit" : `it is at ${now.slice(0, 12)}`;
  throw new CliError(
    "version_mismatch",
    `The work of #${run} is not at ${seen} any more: ${at}.`,
    `Look at it again: passrail runs show ${run}`,
  );
}

/** Not open: fine when it was answered in just this way, else an error that says how things stand. */
async function already(io: Io, found: FoundItem & { type: "closed" }, wanted: Wanted): Promise<number> {
  const { answered, run, summary } = found;
  const answer = wanted.answer(undefined);
  if (answered !== undefined && isSame(answered, answer, wanted.text)) {
    const who = answered.actor.replace(/^human:/u, "");
    const did = `${wanted.kind} ${answered.stage} of #${summary.number} was already ${wanted.said} by ${who} at ${answered.at}`;
    if (!io.json && io.plain) io.err(did);
    await printRest(io, { run, performedBy: null }, { stream: false, exit: EXIT.ok, did });
    return EXIT.ok;
  }
  const what =
    found.number === null
      ? `#${summary.number} has no open ${wanted.kind}`
      : `${wanted.kind} ${summary.number}.${found.number} is not open`;
  const why = whyOf(run);
  const before =
    answered === undefined ? "" : `; it was answered: ${"choice" in answered ? answered.choice : answered.answer}`;
  throw new CliError(
    `${wanted.kind}_not_waiting`,
    `${what}${before}.`,
    `The run is ${run.status} (${run.word})${why === "" ? "" : `: ${why}`}\npassrail runs show ${summary.number}`,
  );
}

function isSame(
  answered: NonNullable<(FoundItem & { type: "closed" })["answered"]>,
  answer: string,
  text: string,
): boolean {
  switch (answered.type) {
    case "gate.answered":
      return answered.answer === answer || (answer === "reject" && answered.answer === "decline");
    case "question.answered":
      return answered.answer === (answer === "" ? text : answer);
    case "escalation.resolved":
      return answered.choice === answer;
    case "budget.answered":
      return answered.answer === answer && answered.note === text;
  }
}

/** A question may offer choices; then the text may be one of them. */
function chosen(item: InboxItem | undefined, text: string, choice: string | undefined): string {
  if (choice !== undefined) return choice;
  return item?.kind === "choice" && Object.hasOwn(item.choices, text) ? text : "";
}

function requireOffered(item: InboxItem, answer: string, text: string, reference: string): void {
  const commands = answersTo(item, reference).join("\n");
  switch (item.kind) {
    case "gate": {
      const known = item.answers.includes(answer) || (answer === "reject" && item.answers.includes("decline"));
      if (!known) throw usageError("answer_unknown", `Gate ${item.stage} does not know "${answer}".`, commands);
      return;
    }
    case "question":
      if (answer !== "")
        throw usageError("answer_unknown", `${item.stage} asks for a text, it offers no choices.`, commands);
      if (text.trim() === "") throw usageError("answer_empty", "The answer is empty.", commands);
      return;
    case "choice":
    case "escalation":
      if (!Object.hasOwn(item.choices, answer)) {
        const given = answer === "" ? `${item.stage} wants one of its choices.` : `"${answer}" is not offered.`;
        throw usageError("choice_unknown", given, commands);
      }
      return;
    case "budget":
      if (answer === "raise" && readRaise(text, item.unit, item.size) === undefined)
        throw usageError("amount_invalid", `"${text}" is no amount in ${item.unit}.`, commands);
  }
}
