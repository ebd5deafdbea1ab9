import { expect, test } from "vitest";
import { ticketFile, ticketWith } from "../ticket/ticket.testsuite.ts";
import { groupWork, nextSort, projectName, readSort, sortWork, writeSort } from "./arrange.ts";
import { dependenciesOf } from "./dependencies.ts";
import { itemsOf } from "./item.ts";
import { fromBoard, fromTickets } from "./search.ts";

const ids = (items: readonly { readonly id: string }[]) => items.map(({ id }) => id);
const WORK = itemsOf(
  [
    ticketWith({ id: "cheap", title: "b 10", cost: { usd: 1, unknownUsd: 0 }, flow: "story" }),
    ticketWith({ id: "dear", title: "b 9", cost: { usd: 9, unknownUsd: 0 }, project: "/home/ann/shop/" }),
    ticketFile({ request: "FR-2" }, { id: "AGI-1", title: "a", project: "/srv/site" }),
  ],
  [],
);

test("the address names the order; what it does not know is the usual one", () => {
  expect(readSort("-cost")).toEqual({ key: "cost", isDown: true });
  expect(readSort("<img>")).toEqual({ key: "need", isDown: false });
  expect(writeSort(readSort("title"))).toBe("title");
  expect(writeSort(readSort(undefined))).toBeUndefined();
});

test("a first click on cost shows the dearest first, the next turns it around, the third takes it back", () => {
  const first = nextSort(readSort(undefined), "cost");
  expect(ids(sortWork(WORK, first))).toEqual(["dear", "cheap", "AGI-1"]);
  const second = nextSort(first, "cost");
  expect(ids(sortWork(WORK, second))).toEqual(["AGI-1", "cheap", "dear"]);
  expect(nextSort(second, "cost")).toEqual({ key: "need", isDown: false });
});

test("titles sort as people count", () => {
  expect(ids(sortWork(WORK, readSort("title")))).toEqual(["AGI-1", "dear", "cheap"]);
});

test("groups by project, request and state; states in the order of the lanes", () => {
  const names = (by: "project" | "request" | "state") => groupWork(WORK, by).map(({ name }) => name);
  expect(names("project")).toEqual(["shop", "site"]);
  expect(names("request")).toEqual(["No request", "FR-2"]);
  expect(names("state")).toEqual(["Backlog", "Under way"]);
  expect(projectName("")).toBe("");
});

test("the graph has what depends on something, also on what is not in the view; what depends on nothing is counted", () => {
  const needs = (id: string, ...dependsOn: string[]) => ticketFile({ dependsOn }, { id });
  const {
    ids: drawn,
    edges,
    alone,
    isCut,
  } = dependenciesOf(
    itemsOf([needs("C", "B", "B"), needs("B", "A"), needs("A", "C"), needs("D", "gone"), needs("E")], []),
  );
  expect(edges).toEqual([
    { from: "B", to: "C" },
    { from: "A", to: "B" },
    { from: "C", to: "A" },
    { from: "gone", to: "D" },
  ]);
  expect(drawn.toSorted()).toEqual(["A", "B", "C", "D", "gone"]);
  expect(drawn.indexOf("gone")).toBeLessThan(drawn.indexOf("D"));
  expect([alone, isCut]).toEqual([1, false]);
});

test("links to the former pages lead to the same work", () => {
  expect(fromBoard({ flow: "feature", ticket: "A" })).toEqual({
    view: "board",
    flow: "feature",
    lanes: "words",
    ticket: "A",
  });
  expect(fromBoard({})).toEqual({ view: "board" });
  expect(fromTickets({ state: "waits", show: "open" })).toEqual({ state: "waits" });
});
