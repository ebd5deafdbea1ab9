// The queries that several pages share. Live events mark them as out of date by their keys.

import { QueryClient, queryOptions } from "@tanstack/react-query";
import type { LiveChange } from "./live/protocol.ts";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { ApiError, call } from "./api.ts";
import { withWork } from "./live-work.ts";
import { oneAtATime } from "./one-at-a-time.ts";

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 30_000,
      gcTime: 5 * 60_000,
      refetchOnWindowFocus: false,
      // Retries only if the daemon did not answer: a refusal would stay one.
      retry: (times, error) => times < 2 && error instanceof ApiError && error.problem.code === "daemon_unreachable",
    },
    // An act without a connection fails at once. The library would keep it and send it when the connection is back.
    mutations: { networkMode: "always" },
  },
});

/** Files change without an event of ours, so an open page asks again now and then. */
const FILES_EVERY_MS = 20_000;

/** While the daemon looks through old runs, the page asks for the rest. */
const REST_EVERY_MS = 1000;

export const inboxQuery = queryOptions({
  queryKey: ["inbox"],
  queryFn: ({ signal }) => call("listInbox", {}, { signal }),
  refetchOnWindowFocus: "always",
  refetchInterval: ({ state }) => ((state.data?.unseen ?? 0) > 0 ? REST_EVERY_MS : FILES_EVERY_MS),
});

/** The working attempts, the next ones, and the cost of today. The last lines and usage of agents come as live events. */
export const nowQuery = queryOptions({
  queryKey: ["now"],
  queryFn: ({ signal }) => call("showNow", {}, { signal }),
  refetchInterval: FILES_EVERY_MS,
});

/** Programs that are over a limit; a change of any run may be about one. */
export const holdsQuery = queryOptions({
  queryKey: ["now", "holds"],
  queryFn: ({ signal }) => call("listHolds", {}, { signal }),
  refetchInterval: FILES_EVERY_MS,
});

/** The database elsewhere that gets the status of features; a run never waits for it. */
export const statusMirrorQuery = queryOptions({
  queryKey: ["status-mirror"],
  queryFn: ({ signal }) => call("showStatusMirror", {}, { signal }),
  refetchInterval: FILES_EVERY_MS,
});

export const itemQuery = (item: string) =>
  queryOptions({
    queryKey: ["item", item],
    queryFn: ({ signal }) => call("showItem", { params: { item } }, { signal }),
    // A person may commit on the branch without an event of ours; returning to the page reads it at once.
    staleTime: 0,
    refetchInterval: FILES_EVERY_MS,
    refetchOnWindowFocus: "always",
  });

/** The decisions of people since a time. */
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

/** The handoffs of one story. */
export const storyQuery = (story: string) =>
  queryOptions({
    queryKey: ["story", story],
    queryFn: ({ signal }) => call("listHandoffs", { query: { storyId: story } }, { signal }),
  });

/** The actions that a run allows now. */
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

/** The registered projects. */
export const projectsQuery = queryOptions({
  queryKey: ["projects"],
  queryFn: ({ signal }) => call("listProjects", {}, { signal }),
});

/** The folder that the daemon works on. */
export const ownProjectQuery = queryOptions({
  queryKey: ["project"],
  queryFn: ({ signal }) => call("showProject", {}, { signal }),
});

/** The project's files that decide what runs. */
export const trustQuery = queryOptions({
  queryKey: ["trust"],
  queryFn: ({ signal }) => call("showTrust", {}, { signal }),
  refetchInterval: FILES_EVERY_MS,
});

/** Marks the queries that a change touches as out of date. */
export function onLive(told: readonly LiveChange[] | "reset"): void {
  if (told === "reset") return void queryClient.invalidateQueries();
  showWork(told);
  // A file that grows changes no run: who shows it follows it.
  const changes = told.filter(({ growth }) => growth === undefined);
  if (changes.length === 0) return;
  const counted = new Set(changes.map(({ runId }) => runId));
  if (changes.every(isUsage))
    return void queryClient.invalidateQueries({
      predicate: ({ queryKey: [kind, of] }) => kind === "run" && counted.has(runOf(String(of))),
    });
  const runs = new Set(changes.flatMap((change) => (isUsage(change) ? [] : [change.runId])));
  const subjects = new Set(changes.map(({ subjectId }) => subjectId));
  const decides = changes.some(({ name }) => DECIDED.test(name));
  const waits = changes.some(({ name }) => WAITING.test(name));
  void queryClient.invalidateQueries({
    predicate: ({ queryKey: [kind, of] }) => {
      switch (kind) {
        case "run":
          return counted.has(runOf(String(of)));
        case "diff":
        case "events":
        case "feature":
        case "acts":
          return runs.has(runOf(String(of)));
        case "ticket":
          return subjects.has(String(of));
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
  refreshNow();
  if (changes.some(({ name }) => name === "ticket.changed")) refreshTickets();
}

/** Words and usage of agents at work, into the list that every page has. */
function showWork(told: readonly LiveChange[]): void {
  if (!told.some(({ growth, used }) => growth?.line !== undefined || used !== undefined)) return;
  queryClient.setQueryData<AnswerTo<"showNow">>(nowQuery.queryKey, (now) => now && withWork(now, told));
}

/** A working attempt has used more: its run shows it, and nothing else has changed. */
function isUsage({ name }: LiveChange): boolean {
  return name === "attempt.usage";
}

/** Any change may touch these lists. A new load waits for the one before. */
const LISTS: ReadonlySet<unknown> = new Set([
  "runs",
  "tickets",
  "ticket-problems",
  "health",
  "cost",
  "workers",
  "projects",
  "queue",
]);
const LISTS_REST_MS = 300;
const refreshLists = oneAtATime(
  () => queryClient.invalidateQueries({ predicate: ({ queryKey: [kind] }) => LISTS.has(kind) }),
  () => new Promise((resolve) => setTimeout(resolve, LISTS_REST_MS)),
);

/** A ticket's page shows its neighbours and variants, too, so a changed file may be about each of them. */
const refreshTickets = oneAtATime(
  () => queryClient.invalidateQueries({ queryKey: ["ticket"] }),
  () => new Promise((resolve) => setTimeout(resolve, LISTS_REST_MS)),
);

/** Every page has it, in the frame: less often. */
const NOW_REST_MS = 1000;
const refreshNow = oneAtATime(
  () => queryClient.invalidateQueries({ queryKey: ["now"] }),
  () => new Promise((resolve) => setTimeout(resolve, NOW_REST_MS)),
);

const DECIDED = /^(gate|question|escalation|budget)\.(answered|resolved)$/;
/** Items to answer, and what makes or settles a loose end. */
const WAITING =
  /^(gate|question|escalation|budget|item|run|outward)\.|^stage\.(stopped|ready|skipped)$|^ticket\.changed$/;

/** Pages name runs by number, events by id; the cached run knows both. */
function runOf(reference: string): string {
  const known = queryClient.getQueryData<{ readonly id: string }>(["run", reference]);
  return known?.id ?? reference;
}
