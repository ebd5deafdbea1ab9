// The pause of everything: stored as the hold of every runner, so that it survives a restart and holds runs that are started later, too.

import type { Actor } from "./event.ts";
import type { Hold } from "./hold.ts";

/** The name that means every runner; no program has this name. */
const EVERY_RUNNER = "*";

export type PausedAll = {
  readonly by: Actor;
  readonly since: string;
  /** Empty where the person gave none. */
  readonly reason: string;
  /** False while the open runs are being paused one after another; a crash may have left some of them. */
  readonly isWhole: boolean;
};

const [PAUSING, PAUSED] = ["pausing", "paused"] as const;

export function pausedAllOf(holds: readonly Hold[]): PausedAll | null {
  const found = holds.find(isPauseOfAll);
  if (found === undefined) return null;
  const { by, since, reason, cause } = found;
  return { by: by as Actor, since, reason, isWhole: cause === PAUSED };
}

export function isPauseOfAll({ runner }: Pick<Hold, "runner">): boolean {
  return runner === EVERY_RUNNER;
}

export function toPauseHold({ by, since, reason, isWhole }: PausedAll): Hold {
  const cause = isWhole ? PAUSED : PAUSING;
  return { runner: EVERY_RUNNER, account: "", cause, reason, since, until: null, runId: null, by };
}

/** The reason that a run's history shows. */
export function pauseReason({ reason }: Pick<PausedAll, "reason">): string {
  return reason === "" ? "everything is paused" : reason;
}
