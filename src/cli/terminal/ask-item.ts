// Asks one item of the inbox at the terminal, with a key or a text. Input typed before the question is discarded: it cannot be an answer to it.

import { createInterface, type Interface } from "node:readline";
import { chosenKey, keysOf, keysText } from "../../core/view/item-keys.ts";
import type { InboxItem } from "../../core/run/run.ts";
import { askInTerminal } from "./ask-in-terminal.ts";

export type TypedDecision =
  | { readonly type: "answer"; readonly answer: string; readonly texts: readonly string[] }
  | { readonly type: "later" }
  | { readonly type: "interrupted" };

export async function askItem(item: InboxItem, showDiff: () => Promise<void>): Promise<TypedDecision> {
  await dropTyped();
  if (item.kind === "question") {
    const asked = await askInTerminal(
      item.questions,
      item.questions.map(() => null),
    );
    return asked.type === "answered" ? { type: "answer", answer: "", texts: asked.answers } : asked;
  }
  const terminal = openLines();
  try {
    return await askKeys(item, terminal.line, showDiff);
  } finally {
    terminal.close();
  }
}

type Line = (prompt: string) => Promise<string | Exclude<TypedDecision, { type: "answer" }>>;

async function askKeys(item: InboxItem, line: Line, showDiff: () => Promise<void>): Promise<TypedDecision> {
  const keys = keysOf(item);
  let missed = "";
  for (;;) {
    const typed = await line(`${missed}${item.stage}? ${keysText(keys)} > `);
    if (typeof typed !== "string") return typed;
    const does = chosenKey(keys, typed)?.does;
    missed = does === undefined ? "Type one of these letters, then Enter. " : "";
    if (does === undefined) continue;
    if (does.type === "later") return does;
    if (does.type === "diff") {
      await showDiff();
      continue;
    }
    if (does.note === "none") return { type: "answer", answer: does.answer, texts: [] };
    const note = await line(does.note === "required" ? "What should change? > " : "A note for it (Enter: none) > ");
    if (typeof note !== "string") return note;
    if (note.trim() !== "" || does.note === "optional") return { type: "answer", answer: does.answer, texts: [note] };
  }
}

function openLines(): { readonly line: Line; readonly close: () => void } {
  const { stdin, stderr } = process;
  const reader: Interface = createInterface({ input: stdin, output: stderr, terminal: true });
  const ended = new Promise<Exclude<TypedDecision, { type: "answer" }>>((resolve) => {
    reader.once("SIGINT", () => resolve({ type: "interrupted" }));
    reader.once("close", () => resolve({ type: "later" }));
  });
  return {
    line: (prompt) => Promise.race([new Promise<string>((resolve) => reader.question(prompt, resolve)), ended]),
    close() {
      reader.close();
      stdin.pause();
    },
  };
}

const DROP_MS = 30;

async function dropTyped(): Promise<void> {
  const { stdin } = process;
  const drop = (): void => undefined;
  stdin.setRawMode(true).on("data", drop).resume();
  await new Promise((resolve) => setTimeout(resolve, DROP_MS));
  stdin.off("data", drop).pause().setRawMode(false);
}
