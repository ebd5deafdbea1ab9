// Keeps issues and tickets in step while a daemon works, at the pace that trackers allow.

import { createPoll } from "../poll.ts";
import { type SyncPlace, syncTrackers } from "./sync.ts";

export type TrackerWatch = { look(): Promise<void>; close(): Promise<void> };

const PAUSE_MS = 60_000;
const FIRST_MS = 2000;

export function openTrackerWatch(place: SyncPlace, log: (line: string) => void): TrackerWatch {
  let last: readonly string[] = [];
  const poll = createPoll({
    async task() {
      const { changes, problems } = await syncTrackers(place);
      for (const line of changes) log(line);
      // A tracker that is away is named once, not every minute.
      for (const line of problems) if (!last.includes(line)) log(line);
      last = problems;
    },
    pauseMs: () => PAUSE_MS,
    onError: (error) => log(error instanceof Error ? error.message : String(error)),
  });
  poll.start(FIRST_MS);
  return { look: () => poll.now(), close: () => poll.stop() };
}
