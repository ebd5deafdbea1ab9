// The address of the place Work: its view, what is shown of it, and in which order.

import { optional } from "../../../src/core/optional.ts";
export const VIEWS = ["list", "board", "graph"] as const;
export type WorkView = (typeof VIEWS)[number];

export const VIEW_WORDS: Readonly<Record<WorkView, string>> = { list: "List", board: "Board", graph: "Graph" };

/** The names of its parameters; the router reads only these. */
export const WORK_KEYS = [
  "view",
  "flow",
  "status",
  "state",
  "request",
  "group",
  "q",
  "lane",
  "lanes",
  "sort",
  "by",
  "ticket",
  "new",
] as const;
export type WorkSearch = { readonly [K in (typeof WORK_KEYS)[number]]?: string };

export function viewOf({ view }: WorkSearch): WorkView {
  return VIEWS.find((each) => each === view) ?? "list";
}

/** The daemon's filters; the page arranges the rest. */
export type WorkFilter = Pick<WorkSearch, "flow" | "status" | "state" | "request" | "group" | "q">;

export function filterOf({ flow, status, state, request, group, q }: WorkSearch): WorkFilter {
  const given = Object.entries({ flow, status, state, request, group, q }).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given);
}

/** Where the former pages of tickets and of the board are now. `lanes=words`: that board had a lane per word of one flow. */
export function fromTickets({ show, ...rest }: WorkSearch & { readonly show?: string }): WorkSearch {
  return show === "ended" ? { ...rest, lane: "done" } : rest;
}

export function fromBoard({ flow, ticket }: { readonly flow?: string; readonly ticket?: string }): WorkSearch {
  return {
    view: "board",
    ...(flow === undefined ? {} : { flow, lanes: "words" }),
    ...optional({ ticket }),
  };
}
