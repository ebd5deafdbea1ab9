// Loads the work: everything that is open, and what ended lately, page by page.

import { infiniteQueryOptions, queryOptions } from "@tanstack/react-query";
import { call } from "../base/api.ts";
import type { ListedFile, ListedTicket } from "../ticket/listed-ticket.ts";
import { STATE_NAMES } from "../ticket/state-names.ts";
import type { WorkFilter } from "./search.ts";

const PAGE = 200;
const OPEN_AT_MOST = 1000;
const ENDED = 50;
/** An agent that only writes output causes no event, so the page polls while one works. */
const LOOK_AGAIN_MS = 30_000;

export type OpenWork = {
  readonly tickets: readonly ListedTicket[];
  /** More is open than is shown. */
  readonly isCut: boolean;
};

export const openWorkQuery = (filter: WorkFilter) =>
  queryOptions({
    queryKey: ["tickets", "open", filter],
    queryFn: async ({ signal }): Promise<OpenWork> => {
      const tickets: ListedTicket[] = [];
      let before: string | null = null;
      do {
        const at: { before?: string } = before === null ? {} : { before };
        const query = { ...asked(filter), open: "true" as const, limit: String(PAGE), ...at };
        const page = await call("listTickets", { query }, { signal });
        tickets.push(...page.tickets);
        before = page.next;
      } while (before !== null && tickets.length < OPEN_AT_MOST);
      return { tickets, isCut: before !== null };
    },
    refetchInterval: ({ state }) => (state.data?.tickets.some(({ agent }) => agent !== null) ? LOOK_AGAIN_MS : false),
  });

export const endedWorkQuery = (filter: WorkFilter) =>
  infiniteQueryOptions({
    queryKey: ["tickets", "ended", filter],
    queryFn: ({ pageParam, signal }) => {
      const at = pageParam === null ? {} : { before: pageParam };
      const query = { ...asked(filter), open: "false" as const, limit: String(ENDED), ...at };
      return call("listTickets", { query }, { signal });
    },
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
  });

/** An address can hold any text; only a known state becomes a filter. */
function asked({ state, ...rest }: WorkFilter): Omit<WorkFilter, "state"> & { readonly state?: ListedFile["state"] } {
  const known = STATE_NAMES.find(([name]) => name === state)?.[0];
  return known === undefined ? rest : { ...rest, state: known };
}

/** Loads older ended work; null if there is none. */
export type Older = { readonly load: () => void; readonly isLoading: boolean } | null;
