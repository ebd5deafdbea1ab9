// The three clocks of an attempt: start-up, idle and total, on the monotonic clock. Reports the first one that runs out, once.

import type { AttemptLimits } from "../runner.ts";

export type LimitReason = "startup_timeout" | "idle_timeout" | "timeout";

export type LimitWatch = {
  /** Call it for every piece of output. */
  readonly sawOutput: () => void;
  readonly stop: () => void;
};

/** setTimeout fires at once for anything longer. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** `heldMs`: the time so far that counts for no limit. */
export const watchLimits = (
  limits: AttemptLimits,
  onLimit: (reason: LimitReason) => void,
  heldMs: () => number = () => 0,
): LimitWatch => {
  const startedAt = performance.now();
  let lastOutputAt: number | undefined;
  let heldBefore = 0;
  let timer: NodeJS.Timeout | undefined;
  let judgement: NodeJS.Immediate | undefined;

  const silence = (): { reason: LimitReason; at: number } | undefined => {
    if (lastOutputAt === undefined && limits.startupMs !== undefined) {
      return { reason: "startup_timeout", at: startedAt + limits.startupMs + heldMs() };
    }
    // Without a start-up limit, silence from the beginning counts as idle too.
    if (limits.idleMs === undefined) return undefined;
    return { reason: "idle_timeout", at: (lastOutputAt ?? startedAt) + limits.idleMs + heldMs() - heldBefore };
  };

  const next = (): { reason: LimitReason; at: number } => {
    const total = { reason: "timeout" as const, at: startedAt + limits.totalMs + heldMs() };
    const quiet = silence();
    return quiet !== undefined && quiet.at < total.at ? quiet : total;
  };

  const arm = (): void => {
    clearTimeout(timer);
    timer = setTimeout(check, Math.min(Math.max(1, Math.ceil(next().at - performance.now())), LONGEST_TIMER_MS));
  };

  const check = (): void => {
    if (next().at > performance.now()) return arm();
    // After a blocked event loop, output may be waiting in the pipe: read it before judging silence.
    judgement = setImmediate(() => {
      const due = next();
      if (due.at > performance.now()) arm();
      else onLimit(due.reason);
    });
  };

  arm();
  return {
    sawOutput: () => {
      const first = lastOutputAt === undefined;
      lastOutputAt = performance.now();
      heldBefore = heldMs();
      // Later output only moves the idle limit away, which `check` notices; the first may bring it nearer.
      if (first) arm();
    },
    stop: () => {
      clearTimeout(timer);
      clearImmediate(judgement);
    },
  };
};
