// Loads the board: all open tickets of a flow, and the newest ones that ended.

import { queryOptions } from "@tanstack/react-query";
import { call } from "../base/api.ts";
import type { ListedTicket } from "../ticket/listed-ticket.ts";

const PAGE = 200;
const OPEN_AT_MOST = 1000;
const ENDED = 50;
/** An agent that only writes output causes no event, so the board polls while one works. */
const LOOK_AGAIN_MS = 30_000;

export type Board = {
  readonly tickets: readonly ListedTicket[];
  /** More tickets are open than are shown. */
  readonly isCut: boolean;
};

export const boardQuery = (flow: string) =>
  queryOptions({
    queryKey: ["tickets", "board", flow],
    queryFn: async ({ signal }): Promise<Board> => {
      const ended = call("listTickets", { query: { flow, open: "false", limit: String(ENDED) } }, { signal });
      // If the other call fails first, nothing awaits this one any more.
      ended.catch(() => undefined);
      const tickets: ListedTicket[] = [];
      let before: string | null = null;
      do {
        const at: { before?: string } = before === null ? {} : { before };
        const page = await call(
          "listTickets",
          { query: { flow, open: "true", limit: String(PAGE), ...at } },
          { signal },
        );
        tickets.push(...page.tickets);
        before = page.next;
      } while (before !== null && tickets.length < OPEN_AT_MOST);
      return { tickets: [...tickets, ...(await ended).tickets], isCut: before !== null };
    },
    refetchInterval: ({ state }) => (state.data?.tickets.some(({ agent }) => agent !== null) ? LOOK_AGAIN_MS : false),
  });

/** The newest tickets of all flows, to find the busiest flow. */
export const recentTicketsQuery = queryOptions({
  queryKey: ["tickets", "recent"],
  queryFn: ({ signal }) => call("listTickets", { query: { limit: "100" } }, { signal }),
});
