// The report of a night. It is not live; the page asks for it every minute.

import { queryOptions } from "@tanstack/react-query";
import { call } from "../base/api.ts";

const AGAIN_MS = 60_000;

export const reportQuery = (since: string) =>
  queryOptions({
    queryKey: ["sums", "report", since],
    queryFn: ({ signal }) => call("report", { query: { since } }, { signal }),
    refetchInterval: AGAIN_MS,
  });
