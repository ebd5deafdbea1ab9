// Work: everything there is to do and was done, tickets and ad-hoc runs alike, as a list, a board or a graph. The address holds the view,
// the filters, the order and the groups.

import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useMemo, useState } from "react";
import { useShortcuts } from "../base/keyboard.ts";
import { inboxQuery, whoQuery } from "../base/queries.ts";
import { NoTickets } from "../ticket/no-tickets.tsx";
import { ProblemsBanner } from "../ticket/problems.tsx";
import { Button } from "../ui/button.tsx";
import { PageHead } from "../ui/panel.tsx";
import { Empty, Failure, Loading } from "../ui/states.tsx";
import { Board } from "./board.tsx";
import { WorkFilters } from "./filters.tsx";
import { itemsOf, type WorkItem } from "./item.ts";
import { WorkList } from "./list.tsx";
import { endedWorkQuery, type Older, openWorkQuery } from "./queries.ts";
import { filterOf, viewOf } from "./search.ts";
import { ViewSwitch } from "./view-switch.tsx";
import { optional } from "../../../src/core/optional.ts";

const NewTicket = lazy(async () => ({ default: (await import("../ticket/new-ticket.tsx")).NewTicket }));
const StartRun = lazy(async () => ({ default: (await import("../run/start-run.tsx")).StartRun }));
/** Only people who look at the graph load its layout. */
const WorkGraph = lazy(async () => ({ default: (await import("./graph.tsx")).WorkGraph }));

export function WorkPage(): ReactNode {
  const search = useSearch({ from: "/work" });
  const navigate = useNavigate({ from: "/work" });
  const who = useQuery(whoQuery).data;
  const cannot = who !== undefined && !who.scopes.includes("operate") ? "Your token can only read." : undefined;
  const [isStarting, setStarting] = useState(false);
  const setNew = (value: string | undefined): void =>
    void navigate({ search: ({ new: _old, ...rest }) => (value === undefined ? rest : { ...rest, new: value }) });
  const shortcuts = useMemo(
    () => [
      {
        keys: "c",
        does: "New ticket",
        group: "Work",
        act: () => void navigate({ search: (old) => ({ ...old, new: "1" }) }),
      },
      { keys: "n", does: "Start a run", group: "Work", act: () => setStarting(true) },
    ],
    [navigate],
  );
  useShortcuts(shortcuts);
  const create = (): void => setNew("1");
  return (
    <>
      <PageHead title="Work">
        <ViewSwitch current={viewOf(search)} />
        <Button onClick={() => setStarting(true)} keys="n" disabledBecause={cannot}>
          Start a run
        </Button>
        <Button look="primary" onClick={create} keys="c" disabledBecause={cannot}>
          New ticket
        </Button>
      </PageHead>
      <ProblemsBanner />
      <Loaded empty={<NoTickets create={create} cannot={cannot} />} />
      <Suspense>
        {search.new !== undefined && cannot === undefined && <NewTicket close={() => setNew(undefined)} />}
        {isStarting && <StartRun close={() => setStarting(false)} {...optional({ flow: search.flow })} />}
      </Suspense>
    </>
  );
}

function Loaded({ empty }: { readonly empty: ReactNode }): ReactNode {
  const search = useSearch({ from: "/work" });
  const filter = filterOf(search);
  const { items, isCut, error, retry, older } = useWork();
  if (items === undefined)
    return error === null ? <Loading what="the work" /> : <Failure error={error} retry={retry} />;
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <div className="flex flex-col gap-3">
      {(items.length > 0 || isFiltered) && <WorkFilters items={items} />}
      {error !== null && <Failure error={error} retry={retry} />}
      {isCut && (
        <p role="status" className="text-sm text-muted">
          Only the newest {items.length.toLocaleString()} are shown. Filter to see others.
        </p>
      )}
      {items.length > 0 ? (
        <Shown items={items} older={older} />
      ) : isFiltered ? (
        <Empty title="No work matches these filters." />
      ) : (
        empty
      )}
    </div>
  );
}

function Shown({ items, older }: { readonly items: readonly WorkItem[]; readonly older: Older }): ReactNode {
  const search = useSearch({ from: "/work" });
  switch (viewOf(search)) {
    case "list":
      return <WorkList items={items} older={older} />;
    case "board":
      return <Board items={items} older={older} />;
    case "graph":
      return (
        <Suspense fallback={<Loading what="the graph" />}>
          <WorkGraph items={items} />
        </Suspense>
      );
  }
}

function useWork(): {
  readonly items: readonly WorkItem[] | undefined;
  readonly isCut: boolean;
  readonly error: unknown;
  readonly retry: () => void;
  readonly older: Older;
} {
  const filter = filterOf(useSearch({ from: "/work" }));
  const open = useQuery(openWorkQuery(filter));
  const ended = useInfiniteQuery(endedWorkQuery(filter));
  const ends = useQuery(inboxQuery).data?.looseEnds;
  const items = useMemo(() => {
    if (open.data === undefined || ended.data === undefined) return undefined;
    const tickets = [...open.data.tickets, ...ended.data.pages.flatMap((page) => page.tickets)];
    // Between the two calls a ticket may end: it is shown once.
    const once = new Map(tickets.map((ticket) => [ticket.id, ticket]));
    return itemsOf([...once.values()], ends ?? []);
  }, [open.data, ended.data, ends]);
  return {
    items,
    isCut: open.data?.isCut === true,
    error: open.error ?? ended.error,
    retry: () => void Promise.all([open.refetch(), ended.refetch()]),
    older: ended.hasNextPage ? { load: () => void ended.fetchNextPage(), isLoading: ended.isFetchingNextPage } : null,
  };
}
