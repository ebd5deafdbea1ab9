// The memory of webhook deliveries without a file, for tests of what is built upon it.

import { type ReplayOptions, type Replays, replaysOver } from "../../src/http/webhooks/replay.ts";

/** Forgets everything when the process ends. */
export function createMemoryReplays(options: ReplayOptions): Replays {
  return replaysOver(options, { seen: new Map(), write: () => {}, close: () => {} });
}
