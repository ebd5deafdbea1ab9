// The order and the groups of work, as the address asks for them.

import { LANES, LANE_WORDS, type WorkItem } from "./item.ts";

export const SORTS = ["need", "title", "state", "flow", "agent", "cost", "age", "active"] as const;
export type SortKey = (typeof SORTS)[number];
export type Sort = { readonly key: SortKey; readonly isDown: boolean };

export const SORT_WORDS: Readonly<Record<SortKey, string>> = {
  need: "What needs you",
  title: "Title",
  state: "State",
  flow: "Flow",
  agent: "Agent",
  cost: "Cost",
  age: "Age",
  active: "Last activity",
};

export const GROUPINGS = ["state", "flow", "agent", "project", "request"] as const;
export type Grouping = (typeof GROUPINGS)[number];

export const GROUPING_WORDS: Readonly<Record<Grouping, string>> = {
  state: "State",
  flow: "Flow",
  agent: "Agent",
  project: "Project",
  request: "Request",
};

/** `cost` or `-cost`; anything else is the usual order. */
export function readSort(text: string | undefined): Sort {
  const isDown = text?.startsWith("-") === true;
  const key = SORTS.find((each) => each === (isDown ? text?.slice(1) : text));
  return key === undefined ? { key: "need", isDown: false } : { key, isDown };
}

/** Undefined for the usual order, which an address leaves out. */
export function writeSort({ key, isDown }: Sort): string | undefined {
  return key === "need" ? undefined : `${isDown ? "-" : ""}${key}`;
}

/** A first click sorts the way that people look for: the dearest, the oldest, the latest first. */
export function nextSort({ key, isDown }: Sort, clicked: SortKey): Sort {
  const firstDown = clicked === "cost" || clicked === "age" || clicked === "active";
  if (key !== clicked) return { key: clicked, isDown: firstDown };
  return isDown === firstDown ? { key, isDown: !isDown } : { key: "need", isDown: false };
}

export function sortWork(items: readonly WorkItem[], { key, isDown }: Sort): readonly WorkItem[] {
  const sign = isDown ? -1 : 1;
  return items.toSorted((a, b) => sign * compare(a, b, key) || latestFirst(a, b));
}

function compare(a: WorkItem, b: WorkItem, key: SortKey): number {
  switch (key) {
    case "need":
      return needOf(a) - needOf(b) || hasWaits(b) - hasWaits(a);
    case "title":
      return a.ticket.title.localeCompare(b.ticket.title, undefined, { numeric: true });
    case "state":
      return LANES.indexOf(a.lane) - LANES.indexOf(b.lane) || a.is.localeCompare(b.is);
    case "flow":
      return a.ticket.flow.localeCompare(b.ticket.flow);
    case "agent":
      return (a.ticket.agent ?? "").localeCompare(b.ticket.agent ?? "");
    case "cost":
      return a.ticket.cost.usd - b.ticket.cost.usd;
    case "age":
      // Older is more.
      return (b.ticket.createdAt ?? "~").localeCompare(a.ticket.createdAt ?? "~");
    case "active":
      return (a.ticket.activeAt ?? "").localeCompare(b.ticket.activeAt ?? "");
  }
}

const NEED = ["you", "merge", "stopped", "underway", "backlog", "done"];

/** A canceled one needs no person any more, although it is in the lane of the stopped ones. */
function needOf({ lane, is }: WorkItem): number {
  return is === "canceled" ? NEED.length : NEED.indexOf(lane);
}

function hasWaits({ ticket }: WorkItem): number {
  return Number(ticket.waits.length > 0 || (ticket.status === "stopped" && ticket.newest !== null));
}

function latestFirst(a: WorkItem, b: WorkItem): number {
  return (b.ticket.updatedAt ?? "").localeCompare(a.ticket.updatedAt ?? "");
}

export type WorkGroup = { readonly name: string; readonly items: readonly WorkItem[] };

export function isGrouping(text: string | undefined): text is Grouping {
  return GROUPINGS.some((each) => each === text);
}

/** Groups in the order of their first item; states in the order of the lanes. */
export function groupWork(items: readonly WorkItem[], by: Grouping): readonly WorkGroup[] {
  const groups = [...Map.groupBy(items, (item) => groupOf(item, by))].map(([name, own]) => ({ name, items: own }));
  if (by !== "state") return groups;
  const order: readonly string[] = LANES.map((lane) => LANE_WORDS[lane]);
  return groups.toSorted((a, b) => order.indexOf(a.name) - order.indexOf(b.name));
}

function groupOf({ ticket, lane }: WorkItem, by: Grouping): string {
  switch (by) {
    case "state":
      return LANE_WORDS[lane];
    case "flow":
      return ticket.flow;
    case "agent":
      return ticket.agent ?? "No agent at work";
    case "project":
      return projectName(ticket.project) || "No project";
    case "request":
      return ticket.file?.request ?? "No request";
  }
}

/** The last part of a folder's path. */
export function projectName(folder: string): string {
  return (
    folder
      .replace(/[\\/]+$/u, "")
      .split(/[\\/]/u)
      .at(-1) ?? ""
  );
}
