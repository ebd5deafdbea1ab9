// Measurements run in rounds that take turns, because a noisy machine slows down and speeds up as a whole. The median counts, and for a
// comparison the median of the rounds' ratios.

import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";

/** One line of the table. Without a limit it is only shown. */
export type Row = {
  readonly name: string;
  /** Undefined when it could not be measured; the note says why. */
  readonly value: number | undefined;
  readonly unit: string;
  readonly limit?: { readonly is: "at least" | "at most"; readonly value: number };
  readonly note?: string;
};

export type Sample = { readonly wallMs: number; readonly cpuMs: number };

/** A temporary folder for one measurement. */
export async function inFolder<T>(base: string, work: (dir: string) => Promise<T>): Promise<T> {
  const dir = mkdtempSync(join(base, "passrail-bench-"));
  try {
    return await work(dir);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

/** Wall time and the processor time of this whole process. */
export async function sample(work: () => void | Promise<void>): Promise<Sample> {
  const cpu = process.cpuUsage();
  const since = performance.now();
  await work();
  const wallMs = performance.now() - since;
  const { user, system } = process.cpuUsage(cpu);
  return { wallMs, cpuMs: (user + system) / 1000 };
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** The smallest value that this share of the values does not exceed. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)];
  if (value === undefined) throw new Error("nothing was measured");
  return value;
}

/** The median ratio of neighbours: a disturbance in one round affects both of its halves. */
export function ratio(above: readonly number[], below: readonly number[]): number {
  return median(above.map((value, index) => value / (below[index] ?? Number.NaN)));
}

/** As the table has it. */
export function rowLine(row: Row, { withBars } = { withBars: true }): string {
  const { name, value, unit, limit, note } = row;
  const shown = value === undefined ? "-" : `${rounded(value)} ${unit}`;
  const bar = limit === undefined || !withBars ? "" : `${limit.is} ${limit.value} ${unit}`;
  const outcome = withBars ? outcomeOf(row) : "";
  return `${name.padEnd(42)}${shown.padStart(14)}  ${bar.padEnd(18)}${outcome.padEnd(8)}${note ?? ""}`.trimEnd();
}

/** A value that could not be measured has not met its bar. */
export function outcomeOf({ value, limit }: Row): "ok" | "MISSED" | "" {
  if (limit === undefined) return "";
  if (value === undefined) return "MISSED";
  return (limit.is === "at least" ? value >= limit.value : value <= limit.value) ? "ok" : "MISSED";
}

function rounded(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString("en-US") : value.toPrecision(3);
}
