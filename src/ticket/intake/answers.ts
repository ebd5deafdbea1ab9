// Prepared answers: a file for `passrail spec --answers`. A list of texts answers the questions in order; a list of lists or maps answers
// round by round; one map answers by the question's number or its words.

import { err, ok, type Result } from "../../core/result.ts";

/** The known answers to the questions of one round, in order; null for each unknown one. */
export type RoundAnswers = readonly (string | null)[];

export type PreparedAnswers = {
  /** Answers this round and, if every question has one, uses it up. */
  readonly next: (questions: readonly string[]) => RoundAnswers;
};

type Round = string | readonly string[] | Readonly<Record<string, string>>;

const MAX_ANSWER = 8000;
const MAX_ENTRIES = 100;

/** `value`: the content of a YAML or JSON file. */
export function readAnswers(value: unknown): Result<PreparedAnswers> {
  if (isMap(value)) {
    const round = readRound(value, "the file");
    return round.ok ? ok({ next: (questions) => answersFrom(round.value, questions) }) : round;
  }
  if (!Array.isArray(value)) return err(invalid("it holds neither a list nor a map of answers"));
  if (value.length > MAX_ENTRIES) return err(invalid(`it has more than ${MAX_ENTRIES} entries`));
  if (value.every((entry) => !isMap(entry) && !Array.isArray(entry))) {
    const texts = readRound(value, "the file");
    return texts.ok ? ok(oneByOne(texts.value as readonly string[])) : texts;
  }
  const rounds: Round[] = [];
  for (const [index, entry] of value.entries()) {
    const round = readRound(entry, `round ${index + 1}`);
    if (!round.ok) return round;
    rounds.push(round.value);
  }
  return ok(roundByRound(rounds));
}

/** The text for the agent: each answer with the number of its question. */
export function answerText(answers: readonly string[]): string {
  return answers.length === 1 ? (answers[0] ?? "") : answers.map((answer, at) => `${at + 1}. ${answer}`).join("\n");
}

function oneByOne(texts: readonly string[]): PreparedAnswers {
  let used = 0;
  return {
    next(questions) {
      const given = questions.map((_, at) => texts[used + at] ?? null);
      if (!given.includes(null)) used += questions.length;
      return given;
    },
  };
}

function roundByRound(rounds: readonly Round[]): PreparedAnswers {
  let used = 0;
  return {
    next(questions) {
      const given = answersFrom(rounds[used] ?? [], questions);
      if (!given.includes(null)) used += 1;
      return given;
    },
  };
}

function answersFrom(round: Round, questions: readonly string[]): RoundAnswers {
  // One text for a whole round answers its first question; the others refer to it.
  if (typeof round === "string") return questions.map((_, at) => (at === 0 ? round : "see the answer to 1"));
  if (Array.isArray(round)) return questions.map((_, at) => (round as readonly string[])[at] ?? null);
  const entries = Object.entries(round as Readonly<Record<string, string>>);
  return questions.map((question, at) => {
    const words = question.toLowerCase();
    const found =
      entries.find(([key]) => key === String(at + 1)) ?? entries.find(([key]) => words.includes(key.toLowerCase()));
    return found?.[1] ?? null;
  });
}

function readRound(value: unknown, where: string): Result<Round> {
  if (Array.isArray(value)) {
    const texts: string[] = [];
    for (const [index, entry] of value.entries()) {
      const text = textOf(entry);
      if (text === undefined) return err(invalid(`answer ${index + 1} of ${where} is not a text`));
      texts.push(text);
    }
    return ok(texts);
  }
  if (isMap(value)) {
    const entries: [string, string][] = [];
    for (const [key, entry] of Object.entries(value)) {
      const text = textOf(entry);
      if (text === undefined || key === "") return err(invalid(`the answer to "${key}" of ${where} is not a text`));
      entries.push([key, text]);
    }
    return ok(Object.fromEntries(entries));
  }
  const text = textOf(value);
  return text === undefined ? err(invalid(`${where} is neither a text, a list nor a map`)) : ok(text);
}

function textOf(value: unknown): string | undefined {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value !== "string" || value.trim() === "" || value.length > MAX_ANSWER) return undefined;
  return value.trim();
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function invalid(why: string) {
  return {
    code: "answers_invalid",
    message: `The file of answers cannot be used: ${why}.`,
    hint: "A list of texts, a list with a list or a map per round, or a map from words of the question to the answer.",
  };
}
