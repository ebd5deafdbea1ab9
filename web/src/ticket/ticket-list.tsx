// The list of tickets, loaded page by page. Only the rows in view are drawn.

import { useInfiniteQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useRef } from "react";
import { call } from "../base/api.ts";
import { Button } from "../ui/button.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { plain } from "../base/plain-text.ts";
import { Empty, Failure, Loading } from "../ui/states.tsx";
import { Ago, useNow } from "../ui/time.tsx";
import { useTop } from "../ui/use-top.ts";
import { VirtualList } from "../ui/virtual-list.tsx";
import { TicketBadges } from "./ticket-badges.tsx";
import { BlockedBy } from "./blocked-by.tsx";
import { STATE_NAMES } from "./state-names.ts";
import { costText, shortId } from "./ticket-facts.ts";
import type { ListedFile, ListedTicket } from "./listed-ticket.ts";

export type TicketFilter = {
  readonly flow?: string;
  readonly status?: string;
  readonly state?: string;
  readonly request?: string;
  readonly group?: string;
  readonly q?: string;
  readonly open?: "true" | "false";
};
type Props = {
  readonly filter: TicketFilter;
  /** Shown if there are no tickets at all. */
  readonly empty: ReactNode;
};

const ROW_PX = 64;

export function TicketList({ filter, empty }: Props): ReactNode {
  const { state, ...asked } = filter;
  const list = useInfiniteQuery({
    queryKey: ["tickets", "list", filter],
    queryFn: ({ pageParam, signal }) =>
      call(
        "listTickets",
        {
          query: {
            ...asked,
            ...isState(state),
            limit: "100",
            ...(pageParam === null ? {} : { before: pageParam }),
          },
        },
        { signal },
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
  });
  const tickets = list.data?.pages.flatMap((page) => page.tickets);
  if (tickets === undefined)
    return list.error === null ? (
      <Loading what="tickets" />
    ) : (
      <Failure error={list.error} retry={() => void list.refetch()} />
    );
  if (tickets.length === 0)
    return <>{Object.keys(filter).length === 0 ? empty : <Empty title="No tickets match these filters." />}</>;
  return (
    <div className="flex flex-col gap-3">
      {list.error !== null && <Failure error={list.error} retry={() => void list.refetch()} />}
      <Rows tickets={tickets} />
      {list.hasNextPage && (
        <Button
          onClick={() => void list.fetchNextPage()}
          disabledBecause={list.isFetchingNextPage ? "Older tickets are loading." : undefined}
        >
          Show older tickets
        </Button>
      )}
    </div>
  );
}

function Rows({ tickets }: { readonly tickets: readonly ListedTicket[] }): ReactNode {
  const list = useRef<HTMLOListElement>(null);
  const top = useTop(list);
  const now = useNow(15_000);
  const virtual = useWindowVirtualizer({
    count: tickets.length,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => tickets[index]?.id ?? index,
    overscan: 10,
    scrollMargin: top,
  });
  return (
    <div className="overflow-hidden rounded-lg border border-line bg-panel">
      <VirtualList list={list} rows={tickets} virtual={virtual} label="Tickets" itemClass="border-b border-line">
        {(ticket) => <Row ticket={ticket} now={now} />}
      </VirtualList>
    </div>
  );
}

function Row({ ticket, now }: { readonly ticket: ListedTicket; readonly now: number }): ReactNode {
  return (
    <div className="relative flex flex-wrap items-center gap-x-4 gap-y-1 px-4 py-2.5 text-sm hover:bg-sunken">
      <div className="min-w-0 flex-1 basis-64">
        <Link
          to="/tickets/$ticket"
          params={{ ticket: ticket.id }}
          className="block truncate font-medium text-ink no-underline after:absolute after:inset-0 hover:underline"
        >
          <SafeText max={200}>{ticket.title}</SafeText>
        </Link>
        <p className="truncate text-xs text-muted">
          <span className="font-mono" title={plain(ticket.id)}>
            <SafeText max={80}>{shortId(ticket.id)}</SafeText>
          </span>{" "}
          · {ticket.file !== null && <>{plain(ticket.file.request, 20)} · </>}
          {ticket.flow} · {ticket.runs} {ticket.runs === 1 ? "run" : "runs"}
        </p>
        <Why ticket={ticket} />
      </div>
      <TicketBadges ticket={ticket} now={now} />
      <span className="w-40 truncate text-muted max-md:w-auto">
        <SafeText max={80}>{ticket.word}</SafeText>
        {ticket.agent !== null && (
          <>
            {" · "}
            <SafeText max={60}>{ticket.agent}</SafeText>
          </>
        )}
      </span>
      <span className="tabular w-16 text-right text-muted max-md:w-auto">
        {ticket.newest !== null && costText(ticket.cost)}
      </span>
      <span className="w-24 text-right text-xs text-muted max-md:w-auto">
        {ticket.activeAt !== null && <Ago at={ticket.activeAt} />}
      </span>
    </div>
  );
}

/** Why a ticket does not move on. */
function Why({ ticket: { file, why } }: { readonly ticket: ListedTicket }): ReactNode {
  if (file === null) return null;
  if (file.blockedBy.length > 0) return <BlockedBy file={file} />;
  if (file.state !== "refused" && file.state !== "intervention") return null;
  return (
    <p className="line-clamp-2 text-xs text-muted">
      <SafeText max={300}>{why ?? file.why}</SafeText>
    </p>
  );
}

/** An address can hold any text; only a known state becomes a filter. */
function isState(text: string | undefined): { state?: State } {
  return STATES.has(text as State) ? { state: text as State } : {};
}

type State = ListedFile["state"];
const STATES: ReadonlySet<State> = new Set(STATE_NAMES.map(([state]) => state));
