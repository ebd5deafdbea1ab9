// Everything that a door needs to show a run or an inbox item, read at one moment.

import type { ResolvedFlow } from "../core/flow/agent.ts";
import { err, ok, type Result } from "../core/result.ts";
import type { InboxItem } from "../core/run/run.ts";
import type { RunEnd } from "../core/view/run-end.ts";
import { branchOf } from "../core/run/branch.ts";
import { repositoryOf } from "../core/run/joint.ts";
import type { MarkedChange } from "../core/view/marked-changes.ts";
import { type MovedBranch, movedBranch } from "../core/view/moved-branch.ts";
import { flowOf } from "../store/flow-of.ts";
import type { AttemptRecord, HandoffRecord } from "../store/store.ts";
import { notWaiting } from "./answer-item.ts";
import { findItem } from "./find-item.ts";
import { findRun, type FoundRun } from "./find-run.ts";
import { findRunEnd } from "./run-end.ts";
import { itemVersion, type Looking } from "./item-version.ts";
import { markedWork } from "./marked-work.ts";
import type { AppProblem } from "./problem.ts";
import { type Takeover, takeoverOf } from "./takeover.ts";
import type { Settings } from "../settings/settings.ts";

export type RunDescription = FoundRun & {
  readonly resolved: ResolvedFlow;
  readonly attempts: readonly AttemptRecord[];
  readonly handoffs: readonly HandoffRecord[];
  /** The version that a decision about its open items is bound to. */
  readonly itemVersion: string;
  /** Where its work is; null while it works or waits. */
  readonly end: RunEnd | null;
  /** Null if no stage is taken over. */
  readonly takeover: Takeover | null;
};

export type ItemDescription = FoundRun & {
  readonly item: InboxItem;
  readonly resolved: ResolvedFlow;
  readonly attempts: readonly AttemptRecord[];
  readonly itemVersion: string;
  /** Changes to look at first. */
  readonly marked: readonly MarkedChange[];
  /** Null if the branch is where the last stage left it. */
  readonly moved: MovedBranch | null;
};

type Describing = Looking & { readonly programs: Settings["programs"] };

export async function describeRun(looking: Describing, reference: string): Promise<Result<RunDescription, AppProblem>> {
  const { store } = looking;
  const found = await findRun(store, reference);
  if (!found.ok) return found;
  const { run, version } = found.value;
  const [resolved, attempts, handoffs, seen] = await Promise.all([
    flowOf(store, run),
    store.attempts(run.id),
    store.handoffs(run.id),
    // Only waiting runs need a version; the others need no git.
    run.status === "waiting" ? itemVersion(looking, found.value) : String(version),
  ]);
  const { number } = found.value.summary;
  const end = await findRunEnd(store, { resolved, run, number, attempts, commitOf: looking.commitOf });
  const takeover = takeoverOf({ resolved, run, attempts, programs: looking.programs });
  return ok({ ...found.value, resolved, attempts, handoffs, itemVersion: seen, end, takeover });
}

/** For an item that is no longer open, the problem names the decision. */
export async function describeItem(looking: Looking, reference: string): Promise<Result<ItemDescription, AppProblem>> {
  const { store } = looking;
  const found = await findItem(store, reference);
  if (!found.ok) return found;
  if (found.value.type === "closed") return err(notWaiting(reference, found.value.item, found.value.found.run));
  const { found: at, item } = found.value;
  const [resolved, attempts, seen] = await Promise.all([
    flowOf(store, at.run),
    store.attempts(at.run.id),
    itemVersion(looking, at),
  ]);
  const head = await looking.commitOf(at.run);
  const marked = await markedWork(repositoryOf(at.run), attempts, head);
  const moved = movedBranch(attempts, branchOf(resolved.flow, at.run), head);
  return ok({ ...at, item, resolved, attempts, itemVersion: seen, marked, moved });
}
