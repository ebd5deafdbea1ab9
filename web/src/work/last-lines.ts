import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { nowQuery } from "../base/queries.ts";

/** The last words of the agents at work, by run. */
export function useLastLines(): ReadonlyMap<string, string> {
  const working = useQuery(nowQuery).data?.working;
  return useMemo(
    () =>
      new Map((working ?? []).flatMap(({ runId, lastLine }) => (lastLine === null ? [] : [[runId, lastLine.text]]))),
    [working],
  );
}
