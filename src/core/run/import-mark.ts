// The part of the imported file that a run keeps.

import type { Spent } from "../budget/budget.ts";

export type ImportMark = {
  /** The version of Passrail that wrote the file, and when. */
  readonly exportedBy: string;
  readonly exportedAt: string;
  /** The hash of the last event in the file: the same on both machines. */
  readonly head: string;
  /** The ticket's id there. Here the run has another, so that no ticket of this machine takes it for its own. */
  readonly subject: string;
  /** Its status when it was exported. */
  readonly was: "running" | "waiting" | "stopped" | "completed" | "canceled";
  /** Its cost there; in no budget of this machine. */
  readonly spent: Spent | null;
};
