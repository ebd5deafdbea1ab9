// The colour of a run's status.

import type { Run } from "../../core/run/run.ts";

const COLORS = { running: "cyan", waiting: "yellow", stopped: "red", completed: "green", canceled: "dim" } as const;

export function statusColor(status: Run["status"]): "red" | "green" | "yellow" | "cyan" | "dim" {
  return COLORS[status];
}
