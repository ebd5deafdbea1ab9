import { expect, test } from "vitest";
import { PAGES, PLACES, pageAt, placeAt } from "./places.ts";

test("six places hold every page; each page has keys of its own", () => {
  expect(PLACES.map(({ name }) => name)).toEqual(["Now", "Runs", "Work", "Flows", "Insights", "Settings"]);
  expect(new Set(PAGES.map(({ keys }) => keys)).size).toBe(PAGES.length);
});

test.each([
  ["/", "Now", "Now"],
  ["/g/r0a1b2c3d4e.1", "Now", "Now"],
  ["/runs/12", "Runs", "Runs"],
  ["/work", "Work", "Work"],
  ["/tickets/AGI-1", "Work", "Work"],
  ["/compare", "Work", "Work"],
  ["/trust", "Settings", "Trust"],
  ["/welcome", undefined, undefined],
])("%s belongs to %s", (path, place, page) => {
  expect(placeAt(path)?.name).toBe(place);
  expect(pageAt(path)?.name).toBe(page);
});
