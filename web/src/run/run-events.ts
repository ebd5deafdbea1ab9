// The events of a run. Events never change, so a reload asks only for newer ones.

import { queryOptions } from "@tanstack/react-query";
import { call } from "../base/api.ts";
import { queryClient } from "../base/queries.ts";
import type { ListedEvent } from "./types.ts";

export type KnownEvents = { readonly events: readonly ListedEvent[]; readonly hasMore: boolean };

const PAGE = 200;
/** Pages per load; the person can load more. */
const PAGES = 5;

export const eventsQuery = (run: string) =>
  queryOptions({
    queryKey: ["events", run],
    queryFn: async ({ signal, queryKey }): Promise<KnownEvents> => {
      const known = queryClient.getQueryData<KnownEvents>(queryKey)?.events ?? [];
      const events = [...known];
      for (let page = 0; page < PAGES; page++) {
        const after = events.at(-1)?.seq ?? 0;
        const answer = await call("runEvents", { params: { run }, query: { after, limit: PAGE } }, { signal });
        events.push(...answer.events);
        if (answer.next === null) return { events: events.length === known.length ? known : events, hasMore: false };
      }
      return { events, hasMore: true };
    },
    structuralSharing: false,
  });
