// A shift: how long, and for how much money, a daemon works before it pauses everything and reports. `up --until --budget` begins one. Pure:
// the daemon keeps it in a file, so that a restart neither forgets its end nor gives it new money.

import { amountText } from "./budget.ts";

export type Shift = {
  /** Also the key of its report: a crash does not send it twice. */
  readonly id: string;
  /** Money spent since then counts. */
  readonly startedAt: string;
  /** Null: only the money ends it. */
  readonly until: string | null;
  /** Null: only the time ends it. */
  readonly usd: number | null;
  readonly ended: { readonly at: string; readonly because: string } | null;
  readonly isReported: boolean;
};

/** The person's input. `until: null`: without an end by time. */
export type ShiftWish = { readonly until?: string | null; readonly usd?: number };

/**
 * The shift of a daemon that starts. A shift that has not ended keeps its beginning, whatever is typed, because its
 * money is counted from there. So does one whose money was used up: the same flags again give it no more.
 */
export function shiftAtStart(
  stored: Shift | null,
  wish: ShiftWish | null,
  { now, newId }: { readonly now: string; readonly newId: string },
): Shift | null {
  if (wish === null) return stored;
  const { until = null, usd = null } = wish;
  if (wish.until === null && usd === null) return null;
  const next = { id: newId, startedAt: now, until, usd, ended: null, isReported: false };
  if (stored === null || !lasts(stored, now)) return next;
  const changed = {
    until: wish.until === undefined ? stored.until : until,
    usd: wish.usd === undefined ? stored.usd : usd,
  };
  const isSame = changed.until === stored.until && changed.usd === stored.usd;
  return isSame ? stored : { ...next, ...changed, startedAt: stored.startedAt };
}

function lasts({ ended, until }: Shift, now: string): boolean {
  return until === null ? ended === null : now < until;
}

/** Why it has ended; null while it lasts. */
export function overBecause({ until, usd }: Pick<Shift, "until" | "usd">, now: string, spent: number): string | null {
  if (until !== null && now >= until) return `the shift ended at ${until}`;
  if (usd !== null && spent >= usd)
    return `the shift's budget of ${amountText("usd", usd)} is used up (${amountText("usd", spent)} spent or reserved)`;
  return null;
}

/** `until 2026-01-31T06:00:00.000Z, $12.00 of $40.00 spent or reserved`. */
export function shiftText({ until, usd, ended }: Shift, spent: number): string {
  if (ended !== null) return `over: ${ended.because}`;
  const money = usd === null ? [] : [`${amountText("usd", spent)} of ${amountText("usd", usd)} spent or reserved`];
  return [...(until === null ? [] : [`until ${until}`]), ...money].join(", ");
}
