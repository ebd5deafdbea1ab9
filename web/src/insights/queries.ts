// Sums over the last runs. They are not live; the page reloads them every minute.

import { queryOptions } from "@tanstack/react-query";
import type { InputTo } from "../../../src/http/client/input.ts";
import { call } from "../base/api.ts";

const AGAIN_MS = 60_000;

export type CostKey = NonNullable<NonNullable<InputTo<"cost">["query"]>["by"]>;

export const costQuery = (by: CostKey, since: string | null) =>
  queryOptions({
    queryKey: ["sums", "cost", by, since],
    queryFn: ({ signal }) => call("cost", { query: { by, ...(since === null ? {} : { since }) } }, { signal }),
    refetchInterval: AGAIN_MS,
  });

export const insightsQuery = (since: string | null) =>
  queryOptions({
    queryKey: ["sums", "insights", since],
    queryFn: ({ signal }) => call("insights", { query: since === null ? {} : { since } }, { signal }),
    refetchInterval: AGAIN_MS,
  });
