// Attempts that work on in processes of their own while no daemon is running.

import { attemptFacts } from "../../../core/attempt-facts.ts";
import { isAtWork } from "../../../carrier/at-work.ts";
import { openForReading } from "../../../store/open-store.ts";
import type { Io } from "../../terminal/io.ts";

/** For people: agents that cost money although nothing seems to run. */
export function workOn(carried: number): readonly string[] {
  if (carried === 0) return [];
  const who = carried === 1 ? "1 agent works" : `${carried} agents work`;
  return [`${who} on; the next daemon adopts them: passrail up`];
}

export async function carriedAttempts(io: Pick<Io, "home" | "environment">): Promise<number> {
  const store = await openForReading(io);
  if (store === undefined) return 0;
  try {
    let living = 0;
    for (const runId of await store.activeRuns())
      for (const record of await store.attempts(runId)) {
        const { carrier } = attemptFacts(record);
        if (record.status === "running" && carrier !== null && isAtWork(io.home, carrier, record)) living += 1;
      }
    return living;
  } finally {
    store.close();
  }
}
