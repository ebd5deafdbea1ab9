// Asks the person at the terminal, one line per answer. Ctrl-D postpones the remaining questions, Ctrl-C ends the command; both lose
// nothing, because the questions stay in the inbox.

import { createInterface } from "node:readline";
import type { Io } from "./io.ts";
import { plainText } from "./plain-text.ts";

export type Asked =
  | { readonly type: "answered"; readonly answers: readonly string[] }
  | { readonly type: "later" }
  | { readonly type: "interrupted" };

const NO_WISH = "no wish of mine: take what is sensible, and write it down as assumed";

export function canAsk(io: Pick<Io, "json" | "quiet" | "noAsk">): boolean {
  return process.stdin.isTTY && process.stderr.isTTY && !io.json && !io.quiet && io.noAsk !== true;
}

/** Anything but y or yes is a no. */
export async function askYesOrNo(question: string): Promise<boolean> {
  return /^y(es)?$/iu.test(await askLine(question));
}

/** Empty for Enter alone, Ctrl-C and Ctrl-D. */
export async function askLine(question: string): Promise<string> {
  const { stdin, stderr } = process;
  const reader = createInterface({ input: stdin, output: stderr, terminal: true });
  try {
    const closed = new Promise<string>((resolve) => {
      reader.once("SIGINT", () => resolve(""));
      reader.once("close", () => resolve(""));
    });
    const said = await Promise.race([new Promise<string>((resolve) => reader.question(question, resolve)), closed]);
    return said.trim();
  } finally {
    reader.close();
    stdin.pause();
  }
}

/** `known` are answers that were given before; they are shown and not asked again. */
export async function askInTerminal(questions: readonly string[], known: readonly (string | null)[]): Promise<Asked> {
  const { stdin, stderr } = process;
  const reader = createInterface({ input: stdin, output: stderr, terminal: true });
  const ended = new Promise<Asked>((resolve) => {
    reader.once("SIGINT", () => resolve({ type: "interrupted" }));
    reader.once("close", () => resolve({ type: "later" }));
  });
  const line = (prompt: string) => new Promise<string>((resolve) => reader.question(prompt, resolve));
  try {
    stderr.write("Answer in a line each. Enter alone: the agent may choose. Ctrl-D: later, from the inbox.\n");
    const answers: string[] = [];
    for (const [index, question] of questions.entries()) {
      stderr.write(`${index + 1}. ${plainText(question)}\n`);
      const before = known[index] ?? null;
      if (before !== null) stderr.write(`> ${plainText(before)}\n`);
      const said = before ?? (await Promise.race([line("> "), ended]));
      if (typeof said !== "string") return said;
      answers.push(said.trim() === "" ? NO_WISH : said.trim());
    }
    return { type: "answered", answers };
  } finally {
    reader.close();
    stdin.pause();
  }
}
