// All runs, newest first. The address holds the filters.

import { useNavigate, useSearch } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useEffect, useMemo, useState } from "react";
import { useShortcuts } from "../base/keyboard.ts";
import { RunFilters } from "./run-filters.tsx";
import { RunTable } from "./run-table.tsx";
import { nextRunSort, readRunSort, writeRunSort } from "./sort-runs.ts";
import { useRunList } from "./use-run-list.ts";
import { Button } from "../ui/button.tsx";
import { PageHead } from "../ui/panel.tsx";
import { Empty, Failure, Loading } from "../ui/states.tsx";

const StartRun = lazy(async () => ({ default: (await import("../run/start-run.tsx")).StartRun }));

const SORTED_AT_MOST = 2000;

export function RunsPage(): ReactNode {
  const { sort: asked, ...filter } = useSearch({ from: "/runs" });
  const navigate = useNavigate({ from: "/runs" });
  const sort = useMemo(() => readRunSort(asked), [asked]);
  const { list, error, isReading, readOlder, retry } = useRunList(filter);
  const [isStarting, setStarting] = useState(false);
  const keys = useMemo(() => [{ keys: "n", does: "Start a run", group: "Runs", act: () => setStarting(true) }], []);
  useShortcuts(keys);
  useEffect(() => {
    // The dearest run may be an old one: an order needs all of them, as far as a page can hold them.
    if (asked !== undefined && typeof list.next === "number" && list.rows.length < SORTED_AT_MOST) readOlder();
  }, [asked, list.next, list.rows.length, readOlder]);
  const isFiltered = Object.keys(filter).length > 0;
  return (
    <>
      <PageHead title="Runs">
        <Button look="primary" keys="n" onClick={() => setStarting(true)}>
          Start a run
        </Button>
      </PageHead>
      <RunFilters filter={filter} />
      {error !== null && <Failure error={error} retry={retry} />}
      {list.rows.length > 0 ? (
        <RunTable
          rows={list.rows}
          sort={sort}
          onSort={(column) =>
            void navigate({
              search: ({ sort: _old, ...rest }) => {
                const next = writeRunSort(nextRunSort(sort, column));
                return next === undefined ? rest : { ...rest, sort: next };
              },
              replace: true,
            })
          }
          nearEnd={readOlder}
        />
      ) : list.next === undefined ? (
        error === null && <Loading what="runs" />
      ) : (
        <Empty title={isFiltered ? "No runs match these filters." : "No runs yet."}>
          {!isFiltered && <Button onClick={() => setStarting(true)}>Start the first one</Button>}
        </Empty>
      )}
      <p role="status" className="mt-2 flex items-center gap-3 text-sm text-muted">
        {list.rows.length > 0 &&
          `${list.rows.length.toLocaleString()} ${list.rows.length === 1 ? "run" : "runs"}${list.next === null ? "" : asked === undefined ? " so far" : " so far; only these are sorted"}`}
        {typeof list.next === "number" && (
          <Button onClick={readOlder} disabledBecause={isReading ? "Older runs are loading." : undefined}>
            Load older
          </Button>
        )}
      </p>
      <Suspense>{isStarting && <StartRun close={() => setStarting(false)} />}</Suspense>
    </>
  );
}
