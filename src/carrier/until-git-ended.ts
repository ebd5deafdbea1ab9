// git that a dead carrier had started works on to its end (src/git/launch-helper.ts), in the carrier's process group. Nothing may touch the
// workspace beside it: neither remove git's locks nor start the stage again.

import { setTimeout as delay } from "node:timers/promises";
import type { CarrierIdentity } from "../attempt/carriers.ts";
import { isSinceBoot, listProcesses } from "../runner/process/process-table.ts";

/** Longer than a commit takes; a process that is still there then is not waited for. */
const GIT_MS = 60_000;

export async function untilGitEnded({ pid, startTime }: CarrierIdentity): Promise<void> {
  // After a restart of the machine the number is somebody else's.
  if (!isSinceBoot({ startTime })) return;
  const until = performance.now() + GIT_MS;
  for (let pauseMs = 5; performance.now() < until; pauseMs = Math.min(pauseMs * 2, 100)) {
    const group = listProcesses().filter((entry) => entry.groupId === pid && !entry.dead);
    // The number of a group is taken while it has members; a leader with another start time has taken it since.
    if (group.length === 0 || group.some((entry) => entry.pid === pid && entry.startTime !== startTime)) return;
    await delay(pauseMs);
  }
}
