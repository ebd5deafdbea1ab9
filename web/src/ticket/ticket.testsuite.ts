import type { ListedFile, ListedTicket } from "./listed-ticket.ts";

/** A ticket for tests; a test sets the fields that matter to it. */
export function ticketWith(given: Partial<ListedTicket>): ListedTicket {
  const at = "2026-03-01T10:00:00.000Z";
  return {
    id: "T-1",
    title: "Export",
    runs: 1,
    newest: { id: "r0123456789", number: 1 },
    flow: "feature",
    state: { is: "working", text: "IN2 works on build #1", until: null },
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
    project: "/home/ann/shop",
    file: null,
    ...given,
  };
}

/** A ticket with a file and without any work. */
export function ticketFile(given: Partial<ListedFile>, more: Partial<ListedTicket> = {}): ListedTicket {
  const file: ListedFile = {
    path: "feature_requests/FR-1/AGI-1.md",
    version: "0",
    request: "FR-1",
    status: "Backlog",
    repo: ".",
    branch: "feat/AGI-1",
    group: null,
    variantHint: null,
    priority: null,
    workflow: null,
    dependsOn: [],
    dependents: [],
    state: "eligible",
    why: "it can start (Backlog)",
    blockedBy: [],
    root: null,
    conflict: null,
    lastError: null,
    problems: [],
    ...given,
  };
  const none = { createdAt: null, since: null, updatedAt: null, activeAt: null };
  const unstarted = { newest: null, runs: 0, status: null, stage: null, agent: null };
  return ticketWith({ id: "AGI-1", flow: "ticket", word: file.status, ...none, ...unstarted, file, ...more });
}
