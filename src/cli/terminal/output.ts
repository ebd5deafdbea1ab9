// Formats output: marks, colours, tables and times. Knows nothing about runs.

import { styleText } from "node:util";
import type { Io } from "./io.ts";
import { oneLine } from "./plain-text.ts";

export type Color = "red" | "green" | "yellow" | "cyan" | "dim" | "bold";

export function paint(io: Pick<Io, "color">, color: Color, text: string): string {
  return io.color ? styleText(color, text, { validateStream: false }) : text;
}

export type Column = { readonly name: string; readonly value: string; readonly color?: Color };

/**
 * Rows of the same columns: tab-separated on a pipe, aligned on a terminal, the last column cut to the width. Cells are made safe here.
 */
export function printTable(io: Io, rows: readonly (readonly Column[])[]): void {
  if (io.plain) {
    for (const row of rows) io.out(row.map(({ value }) => oneLine(value, 400)).join("\t"));
    return;
  }
  const cells = rows.map((row) => row.map(({ value }) => oneLine(value, 120)));
  const widths = (cells[0] ?? []).map((_, column) => Math.max(...cells.map((row) => (row[column] ?? "").length)));
  for (const [index, row] of cells.entries()) {
    const before = widths.slice(0, -1).reduce((sum, width) => sum + width + 2, 0);
    const parts = row.map((cell, column) => {
      const isLast = column === row.length - 1;
      const text = isLast ? oneLine(cell, Math.max(10, io.columns - before)) : cell.padEnd(widths[column] ?? 0);
      const color = rows[index]?.[column]?.color;
      return color === undefined ? text : paint(io, color, text);
    });
    io.out(parts.join("  ").trimEnd());
  }
}

export function printJson(io: Pick<Io, "out">, value: unknown): void {
  io.out(JSON.stringify(value, null, 2));
}

export function shortDuration(ms: number): string {
  if (!Number.isFinite(ms) || ms < 0) return "?";
  if (ms < 1000) return `${Math.round(ms)}ms`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m${String(seconds % 60).padStart(2, "0")}s`;
  return `${Math.floor(seconds / 3600)}h${String(Math.floor((seconds % 3600) / 60)).padStart(2, "0")}m`;
}

/** "12m ago", from ISO times. */
export function age(at: string, now: number = Date.now()): string {
  return `${shortDuration(Math.max(0, now - Date.parse(at)))} ago`;
}
