// The list of runs for a page: loaded on demand and kept up to date by live events.

import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { call } from "../base/api.ts";
import { onChanges } from "../base/live/live.ts";
import { NO_RUNS, type RunList, withNewest, withOlder, withOne } from "./run-list.ts";

export type RunSearch = { readonly status?: string; readonly flow?: string; readonly q?: string };

const PAGE = 100;
/** At most this many changed runs below the newest page are loaded again at once. */
const AGAIN_AT_MOST = 20;

export function useRunList(filter: RunSearch): {
  readonly list: RunList;
  readonly error: unknown;
  readonly isReading: boolean;
  readonly readOlder: () => void;
  readonly retry: () => void;
} {
  const { status, flow, q } = filter;
  const key = JSON.stringify([status, flow, q]);
  const [list, setList] = useState<RunList>(NO_RUNS);
  const [error, setError] = useState<unknown>(null);
  const [isReading, setReading] = useState(false);
  const current = useRef({ list, key });
  current.current = { list, key };

  const newest = useQuery({
    queryKey: ["runs", key],
    queryFn: ({ signal }) => call("listRuns", { query: { ...filter, limit: PAGE } }, { signal }),
  });
  const shownKey = useRef(key);
  useEffect(() => {
    const isOther = shownKey.current !== key;
    shownKey.current = key;
    const page = newest.data;
    setList((before) =>
      page === undefined ? (isOther ? NO_RUNS : before) : withNewest(isOther ? NO_RUNS : before, page),
    );
  }, [newest.data, key]);

  const readOlder = useCallback(() => {
    const { list: known, key: asked } = current.current;
    if (isReading || known.next === null || known.next === undefined) return;
    setReading(true);
    setError(null);
    call("listRuns", {
      query: { ...(JSON.parse(asked) as Asked).reduce(toQuery, {}), limit: PAGE, before: known.next },
    })
      .then((page) => {
        if (current.current.key === asked) setList((before) => withOlder(before, page));
      }, setError)
      .finally(() => setReading(false));
  }, [isReading]);

  useEffect(
    () =>
      onChanges((changes) => {
        if (changes === "reset") return;
        const { list: known, key: asked } = current.current;
        const ids = new Set(changes.map(({ runId }) => runId));
        const query = (JSON.parse(asked) as Asked).reduce(toQuery, {});
        for (const { number } of known.rows
          .slice(PAGE)
          .filter(({ id }) => ids.has(id))
          .slice(0, AGAIN_AT_MOST)) {
          call("listRuns", { query: { ...query, limit: 1, before: number + 1 } }).then(
            ({ runs: [row] }) => setList((before) => withOne(before, number, row?.number === number ? row : undefined)),
            () => undefined,
          );
        }
      }),
    [],
  );

  return {
    list,
    error: newest.error ?? error,
    isReading: isReading || newest.isFetching,
    readOlder,
    retry: () => void newest.refetch(),
  };
}

type Asked = readonly (string | null)[];
const NAMES = ["status", "flow", "q"] as const;

function toQuery(query: RunSearch, value: string | null, index: number): RunSearch {
  const name = NAMES[index];
  return value === null || name === undefined ? query : { ...query, [name]: value };
}
