// Commits one change of a run.

import { type BudgetUse, toUsd } from "../../core/budget/budget.ts";
import type { Change, CommitResult } from "../store.ts";
import { requireWellFormed } from "../well-formed.ts";
import type { createHeads } from "./heads.ts";
import { commitJob } from "./jobs.ts";
import type { Answer, Writer } from "./writer.ts";

type OverBudget = Extract<CommitResult, { type: "over_budget" }>;

export function createCommit(
  writer: Writer,
  heads: ReturnType<typeof createHeads>,
): (change: Change) => Promise<CommitResult> {
  return async (change) => {
    requireWellFormed(change);
    const { runId, expectedVersion, events } = change;
    const version = expectedVersion + events.length;
    for (let head = heads.of(runId, expectedVersion); ; ) {
      const job = commitJob(change, head);
      const answer = await writer.write(job);
      switch (answer["type"]) {
        case "ok": {
          heads.know(runId, version, job.head);
          const near = nearOf(answer);
          const seq = Number(answer["seq"]);
          return near.length === 0 ? { type: "ok", seq, version } : { type: "ok", seq, version, near };
        }
        case "head":
          head = String(answer["head"]);
          continue;
        case "over_budget":
          return { ...toDollars(answer["over"] as OverBudget), type: "over_budget" };
        case "duplicate":
        case "conflict":
          return { type: answer["type"] };
        default:
          throw new Error(`a commit was answered with ${JSON.stringify(answer)}`);
      }
    }
  };
}

/** A limit that several reservations come near to is named once, as it is after the last. */
function nearOf({ near = [] }: Answer): readonly BudgetUse[] {
  const uses = new Map<string, BudgetUse>();
  for (const use of near as readonly BudgetUse[]) uses.set(`${use.scope} ${use.key} ${use.unit}`, toDollars(use));
  return [...uses.values()];
}

/** Money is in millionths of a dollar inside the database. */
function toDollars<T extends BudgetUse & { readonly needed?: number }>(use: T): T {
  if (use.unit === "tokens") return use;
  const needed = use.needed === undefined ? {} : { needed: toUsd(use.needed) };
  return { ...use, limit: toUsd(use.limit), used: toUsd(use.used), ...needed };
}
