// `demo`: plays the demo in the terminal. For a person at a terminal it ends with the dashboard.

import { type DemoOptions, runDemo } from "../../../demo/demo.ts";
import { usageError } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";

export type DemoFlags = { readonly speed: string; readonly scripted: boolean; readonly dashboard: boolean };

export async function demo(io: Io, version: string, flags: DemoFlags): Promise<number> {
  const speed = Number(flags.speed);
  if (!(speed >= 0.1 && speed <= 100)) throw usageError("number_invalid", "--speed: a number from 0.1 to 100.");
  const options = { speed, ...(flags.scripted ? { interactive: false } : {}) };
  const isShown = io.tty && process.stdin.isTTY && !io.json && flags.dashboard;
  if (!isShown) return runDemo(io, options);
  const { showDashboard } = await import("./dashboard.ts");
  const dashboard: DemoOptions["dashboard"] = (place, stop) => showDashboard(io, version, place, stop);
  return runDemo(io, { ...options, dashboard });
}
