// The data for the palette: the open run or item, and the results for the typed text.

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMatches } from "@tanstack/react-router";
import { call } from "../../base/api.ts";
import { PAGES } from "../places.ts";
import { actsQuery, flowsQuery, inboxQuery, nowQuery, runQuery } from "../../base/queries.ts";
import { useSettled } from "../../ui/use-settled.ts";
import type { Known } from "./entries.ts";

const PAUSE_MS = 150;
const FOUND_AT_MOST = 6;

export function useKnown(typed: string): Known & { readonly runId: string | undefined } {
  const text = useSettled(typed, PAUSE_MS);
  const matches = useMatches();
  const valueOf = (name: "run" | "item"): string | undefined => {
    const last = matches.at(-1);
    const given = { ...(last?.search as Record<string, unknown>), ...(last?.params as Record<string, unknown>) }[name];
    return typeof given === "string" ? given : undefined;
  };
  const reference = valueOf("run");
  const run = useQuery({ ...runQuery(reference ?? ""), enabled: reference !== undefined }).data;
  const acts = useQuery({ ...actsQuery(run?.id ?? ""), enabled: run !== undefined }).data?.acts;
  const { items: waiting = [], looseEnds = [] } = useQuery(inboxQuery).data ?? {};
  const working = useQuery(nowQuery).data?.working ?? [];
  const ofRun = waiting.filter(({ runId }) => runId === run?.id);
  const item = waiting.find(({ id }) => id === valueOf("item")) ?? (ofRun.length === 1 ? ofRun[0] : undefined);
  const flows = useQuery(flowsQuery).data?.flows ?? [];
  const found = useQuery({
    queryKey: ["runs", "palette", text],
    queryFn: ({ signal }) => call("listRuns", { query: { ...searchOf(text), limit: FOUND_AT_MOST } }, { signal }),
    placeholderData: keepPreviousData,
  }).data?.runs;
  const tickets = useQuery({
    queryKey: ["tickets", "palette", text],
    queryFn: ({ signal }) =>
      call("listTickets", { query: { ...searchOf(text), limit: String(FOUND_AT_MOST) } }, { signal }),
    placeholderData: keepPreviousData,
    enabled: text.trim() !== "",
  }).data?.tickets;
  return {
    text: typed,
    places: PAGES,
    item,
    waiting: waiting.filter(({ id }) => id !== item?.id).slice(0, FOUND_AT_MOST),
    looseEnds: looseEnds.slice(0, FOUND_AT_MOST),
    working: working.slice(0, FOUND_AT_MOST),
    run: run === undefined || acts === undefined ? undefined : { number: run.number, acts },
    found: found ?? [],
    flows,
    tickets: text.trim() === "" ? [] : (tickets ?? []),
    runId: run?.id,
  };
}

function searchOf(text: string): { q?: string } {
  const line = text
    .replaceAll(/\p{Cc}/gu, " ")
    .trim()
    .slice(0, 200);
  return line === "" ? {} : { q: line };
}
