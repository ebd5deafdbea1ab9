// The person in the demo: a script that waits a moment and takes the suggestion, or the user at the terminal.

import { createInterface } from "node:readline/promises";
import { setTimeout as pause } from "node:timers/promises";
import type { Flow } from "../core/flow/flow.ts";
import type { InboxItem } from "../core/run/run.ts";
import { type DemoIo, INTERRUPTED } from "./io.ts";
import { paint, plainLine } from "./look.ts";
import { type Decision, suggestionFor } from "./story.ts";
import type { DemoView } from "./view.ts";

const CTRL_C = 3;

export type People = {
  decide(item: InboxItem, flow: Flow, view: DemoView): Promise<Decision>;
  close(): void;
};

export function writtenPeople(pauseMs: number, stop: AbortSignal): People {
  return {
    async decide(item) {
      await pause(pauseMs, undefined, { signal: stop });
      return suggestionFor(item);
    },
    close() {},
  };
}

/** Enter takes the suggestion; so does the end of the input. */
export function typingPeople(io: Pick<DemoIo, "color">, stop: AbortController): People {
  const quiet = keepQuiet(stop);
  const ask = async (view: DemoView, prompt: string, suggestion: string): Promise<string> => {
    const text = plainLine(prompt);
    const width = text.length + suggestion.length + 6;
    const shown = `  ${text} ${paint(io, "dim", `[${suggestion}]`)} `;
    const typed = await view.whileAsking(width, () => readLine(shown, stop, quiet));
    return typed.trim() === "" ? suggestion : typed.trim();
  };
  return {
    async decide(item, _flow, view) {
      const { answer, text } = suggestionFor(item);
      switch (item.kind) {
        case "gate":
          return { answer: await ask(view, `${item.stage}: ${item.answers.join(" or ")}?`, answer), text: "" };
        case "question":
          return { answer: "", text: await ask(view, item.questions.join(" "), text) };
        case "choice":
          return {
            answer: await ask(view, `${item.stage}: ${Object.keys(item.choices).join(", ")}?`, answer),
            text: "",
          };
        case "escalation": {
          const chosen = await ask(view, `${item.stage}: ${Object.keys(item.choices).join(", ")}?`, answer);
          return { answer: chosen, text: chosen === "again" ? await ask(view, "Your note:", text) : "" };
        }
        case "budget":
          return { answer: await ask(view, `${item.stage}: raise or stop?`, answer), text: "" };
      }
    },
    close: quiet.end,
  };
}

async function readLine(prompt: string, stop: AbortController, quiet: Quiet): Promise<string> {
  quiet.end();
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const ended = new AbortController();
  terminal.on("SIGINT", () => stop.abort(INTERRUPTED));
  terminal.on("close", () => ended.abort());
  try {
    return await terminal.question(prompt, { signal: AbortSignal.any([stop.signal, ended.signal]) });
  } catch (error) {
    if (stop.signal.aborted || !ended.signal.aborted) throw error;
    return "";
  } finally {
    terminal.close();
    quiet.begin();
  }
}

type Quiet = { readonly begin: () => void; readonly end: () => void };

/** Between questions typed text is not echoed, because it would tear the picture; only Ctrl-C has an effect. */
function keepQuiet(stop: AbortController): Quiet {
  const { stdin } = process;
  const listen = (typed: Buffer): void => {
    if (typed.includes(CTRL_C)) stop.abort(INTERRUPTED);
  };
  const begin = (): void => {
    if (!stdin.isTTY || stop.signal.aborted) return;
    stdin.setRawMode(true).on("data", listen).resume();
  };
  const end = (): void => {
    stdin.off("data", listen).pause();
    if (stdin.isTTY) stdin.setRawMode(false);
  };
  begin();
  return { begin, end };
}
