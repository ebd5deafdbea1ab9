import type { Ticket } from "./lanes.ts";

/** A ticket for tests; what matters to a test is given. */
export function ticketWith(given: Partial<Ticket>): Ticket {
  const at = "2026-03-01T10:00:00.000Z";
  return {
    id: "T-1",
    title: "Export",
    runs: 1,
    newest: { id: "r0123456789", number: 1 },
    flow: "feature",
    status: "running",
    word: "building",
    stage: "build",
    agent: "IN2",
    paused: false,
    why: null,
    waits: [],
    loops: 0,
    counters: [],
    cost: { usd: 0, unknownUsd: 0 },
    createdAt: at,
    since: at,
    updatedAt: at,
    activeAt: at,
    file: null,
    ...given,
  };
}
