// Queries of the flow pages.

import { queryOptions } from "@tanstack/react-query";
import { call } from "../base/api.ts";

export const flowStatsQuery = (flow: string) =>
  queryOptions({
    queryKey: ["flow-stats", flow],
    queryFn: ({ signal }) => call("flowStats", { params: { flow } }, { signal }),
    refetchInterval: 60_000,
  });

export const flowSourceQuery = (flow: string) =>
  queryOptions({
    queryKey: ["flow-source", flow],
    queryFn: ({ signal }) => call("flowSource", { params: { flow } }, { signal }),
  });

/** The last few runs; live, because lists of runs are. */
export const lastRunsQuery = (flow: string) =>
  queryOptions({
    queryKey: ["runs", "last", flow],
    queryFn: ({ signal }) => call("listRuns", { query: { flow, limit: 5 } }, { signal }),
  });
