// A block of lines at the bottom of a terminal that is redrawn in place. Only for a terminal with a size; other outputs get plain lines.
// Frames use synchronised output to avoid flicker.

import { oneLine } from "./plain-text.ts";

export type Live = {
  /** Replaces the block. Lines are cut to the width; colour comes from `paint` after cutting. */
  readonly draw: (lines: readonly LiveLine[]) => void;
  /** A line that stays, above the block. */
  readonly above: (line: string) => void;
  /** Leaves the block unchanged and continues below it. */
  readonly done: () => void;
};

export type LiveLine = { readonly text: string; readonly paint: (text: string) => string };

export type Terminal = Pick<NodeJS.WriteStream, "write"> & { readonly columns?: number; readonly rows?: number };

const BEGIN = "\u001b[?2026h";
const END = "\u001b[?2026l";

export function createLive(terminal: Terminal): Live {
  let drawn: readonly string[] = [];

  const erase = (): string => (drawn.length === 0 ? "" : `\u001b[${drawn.length}A\u001b[0J`);
  const show = (before: string, lines: readonly string[]): void => {
    terminal.write(`${BEGIN}${erase()}${before}${lines.map((line) => `${line}\n`).join("")}${END}`);
    drawn = lines;
  };
  return {
    draw(lines) {
      const width = Math.max(20, (terminal.columns ?? 80) - 1);
      // A block higher than the screen cannot be drawn again: the cursor stops at the top.
      const fitting = lines.slice(-Math.max(3, (terminal.rows ?? 24) - 2));
      const next = fitting.map(({ text, paint }) => paint(oneLine(text, width)));
      if (next.join("\n") !== drawn.join("\n")) show("", next);
    },
    above(line) {
      show(`${line}\n`, drawn);
    },
    done() {
      drawn = [];
    },
  };
}
