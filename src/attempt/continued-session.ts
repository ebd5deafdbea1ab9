// The session that the next attempt of a stage continues: one that was cut off, or the last one where an answer or the flow's rule leads
// back to it. The engine asks too: an attempt that continues a session cannot change its runner.

import { attemptFacts } from "../core/attempt-facts.ts";
import type { RunnerChoice } from "../core/flow/runner-choice.ts";
import type { Carry } from "../core/run/run.ts";
import type { Session } from "../runner/runner.ts";
import type { EarlierAttempt } from "./earlier-attempt.ts";
import { interruptedSession } from "./interruption.ts";

export type NextAttempt = {
  readonly stage: string;
  readonly attempt: number;
  readonly carry: Carry;
  readonly session: RunnerChoice["session"];
};

export type Continued = { readonly runner: string; readonly session: Session; readonly cutOff: boolean };

/** `runner`: only a session of this one; without it, of whichever runner had the last. */
export function continuedSession(
  { stage, attempt, carry, session: mode }: NextAttempt,
  attempts: readonly EarlierAttempt[],
  runner?: string,
): Continued | undefined {
  if (mode === "clean") return undefined;
  const own = attempts.filter((each) => each.stage === stage && each.attempt < attempt);
  const played = own.flatMap((each) => attemptFacts(each).runner ?? []);
  const by = runner ?? played.at(-1);
  if (by === undefined) return undefined;
  const cutOff = interruptedSession({ stage, attempt }, attempts, by);
  if (cutOff !== undefined) return { runner: by, session: cutOff, cutOff: true };
  const { reason } = carry;
  const goesOn = reason === "answered" || carry.cutOff !== undefined || carry.handedBack !== undefined;
  const isWanted = goesOn || (mode === "resume" && (reason === "sent-back" || reason === "again"));
  if (!isWanted) return undefined;
  const last = own.map((each) => attemptFacts(each)).findLast((facts) => facts.runner === by);
  return last?.session == null ? undefined : { runner: by, session: last.session, cutOff: false };
}
