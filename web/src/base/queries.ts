// What pages ask for, under names that live events can call out of date. Events are the truth; what is kept here is only what was asked last.

import { QueryClient, queryOptions } from "@tanstack/react-query";
import type { LiveChange } from "./live/protocol.ts";
import { ApiError, call } from "./api.ts";
import { oneAtATime } from "./one-at-a-time.ts";

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      gcTime: 5 * 60_000,
      refetchOnWindowFocus: false,
      // A refusal stays one; only silence is asked again.
      retry: (times, error) => times < 2 && error instanceof ApiError && error.problem.code === "daemon_unreachable",
    },
  },
});

export const inboxQuery = queryOptions({
  queryKey: ["inbox"],
  queryFn: ({ signal }) => call("listInbox", {}, { signal }),
});

export const itemQuery = (item: string) =>
  queryOptions({
    queryKey: ["item", item],
    queryFn: ({ signal }) => call("showItem", { params: { item } }, { signal }),
  });

/** What people have decided since a time. */
export const decisionsQuery = (since: string) =>
  queryOptions({
    queryKey: ["decisions", since],
    queryFn: ({ signal }) => call("listDecisions", { query: { since, limit: 100 } }, { signal }),
  });

export const runQuery = (run: string) =>
  queryOptions({
    queryKey: ["run", run],
    queryFn: ({ signal }) => call("showRun", { params: { run } }, { signal }),
  });

export const ticketQuery = (ticket: string) =>
  queryOptions({
    queryKey: ["ticket", ticket],
    queryFn: ({ signal }) => call("showTicket", { params: { ticket } }, { signal }),
  });

/** The handoffs of one story; what happens in others leaves it alone. */
export const storyQuery = (story: string) =>
  queryOptions({
    queryKey: ["story", story],
    queryFn: ({ signal }) => call("listHandoffs", { query: { storyId: story } }, { signal }),
  });

/** What can be done with a run now. */
export const actsQuery = (run: string) =>
  queryOptions({
    queryKey: ["acts", run],
    queryFn: ({ signal }) => call("listActs", { params: { run } }, { signal }),
  });

export const flowsQuery = queryOptions({
  queryKey: ["flows"],
  queryFn: ({ signal }) => call("listFlows", {}, { signal }),
});

export const flowQuery = (flow: string) =>
  queryOptions({
    queryKey: ["flow", flow],
    queryFn: ({ signal }) => call("showFlow", { params: { flow } }, { signal }),
  });

export const healthQuery = queryOptions({
  queryKey: ["health"],
  queryFn: ({ signal }) => call("health", {}, { signal }),
});

export const whoQuery = queryOptions({
  queryKey: ["whoami"],
  queryFn: ({ signal }) => call("whoami", {}, { signal }),
});

/** Calls out of date what a change touches, and nothing of other stories. */
export function onLive(changes: readonly LiveChange[] | "reset"): void {
  if (changes === "reset") return void queryClient.invalidateQueries();
  const runs = new Set(changes.map(({ runId }) => runId));
  const subjects = new Set(changes.map(({ subjectId }) => subjectId));
  // Of many files at once it is only said that there are many.
  const isManyTickets = changes.some(({ name, subjectId }) => name === "ticket.changed" && subjectId === "");
  const decides = changes.some(({ name }) => DECIDED.test(name));
  const waits = changes.some(({ name }) => WAITING.test(name));
  void queryClient.invalidateQueries({
    predicate: ({ queryKey: [kind, of] }) => {
      switch (kind) {
        case "run":
        case "diff":
        case "events":
        case "feature":
        case "acts":
          return runs.has(runOf(String(of)));
        case "ticket":
          return subjects.has(String(of)) || isManyTickets;
        case "story":
          return subjects.has(String(of));
        case "item":
          return runs.has(runOf(String(of).split(".")[0] ?? ""));
        case "inbox":
          return waits;
        case "decisions":
          return decides;
        default:
          return false;
      }
    },
  });
  refreshLists();
}

/** What any change may touch. Of these a next load does not cut off the one before. */
const LISTS: ReadonlySet<unknown> = new Set(["runs", "tickets", "ticket-problems", "health", "cost", "workers"]);
const LISTS_REST_MS = 300;
const refreshLists = oneAtATime(
  () => queryClient.invalidateQueries({ predicate: ({ queryKey: [kind] }) => LISTS.has(kind) }),
  () => new Promise((resolve) => setTimeout(resolve, LISTS_REST_MS)),
);

const DECIDED = /^(gate|question|escalation|budget)\.(answered|resolved)$/;
const WAITING = /^(gate|question|escalation|budget|item|run)\./;

/** Pages name runs by number; events name them by id. What was asked for last tells which is which. */
function runOf(reference: string): string {
  const known = queryClient.getQueryData<{ readonly id: string }>(["run", reference]);
  return known?.id ?? reference;
}
