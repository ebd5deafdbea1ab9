// How the demo looks: marks with words, colour only where it is wanted, and text that cannot disturb a terminal.

import { styleText } from "node:util";
import type { DemoIo } from "./io.ts";

export type Mark = "done" | "running" | "queued" | "again" | "waits" | "escalated" | "stopped";

type Look = { readonly sign: string; readonly color: "green" | "cyan" | "dim" | "yellow" | "red" | "magenta" };
const LOOKS: Readonly<Record<Mark, Look>> = {
  done: { sign: "✔ ", color: "green" },
  running: { sign: "◉ ", color: "cyan" },
  queued: { sign: "○ ", color: "dim" },
  again: { sign: "↺ ", color: "yellow" },
  // Two cells wide in nearly every terminal, so no space follows.
  waits: { sign: "⛔", color: "red" },
  escalated: { sign: "⤴ ", color: "magenta" },
  stopped: { sign: "✖ ", color: "red" },
};

export function markOf(io: Pick<DemoIo, "color">, mark: Mark): string {
  const { sign, color } = LOOKS[mark];
  return paint(io, color, sign);
}

export function paint(io: Pick<DemoIo, "color">, color: Look["color"] | "bold", text: string): string {
  return io.color ? styleText(color, text, { validateStream: false }) : text;
}

/** One line of text from an agent or a person: no control characters, no line breaks. */
export function plainLine(text: string): string {
  return text
    .slice(0, 4000)
    .replaceAll(/[\p{Control}\p{Format}\s]+/gu, " ")
    .trim();
}

/** At most this many characters. */
export function fit(text: string, width: number): string {
  const characters = Array.from(text);
  return characters.length <= width ? text : `${characters.slice(0, Math.max(0, width - 1)).join("")}…`;
}

export function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)}s`;
}
