import { expect, test } from "vitest";
import type { Entry } from "./entries.ts";
import { matching } from "./match.ts";

const entries: readonly Entry[] = [
  {
    title: "Approve: Pause the slugify job",
    group: "Decide",
    deed: { type: "answer", answer: "approve", done: "Approved" },
  },
  { title: "Go to Runs", group: "Go to", deed: { type: "go", to: "/runs" }, cli: "passrail runs list" },
  { title: "Pause · run #2", group: "This run", deed: { type: "keys" }, cli: "passrail runs pause 2" },
  { title: "Run #2: Add slugify", group: "Open", deed: { type: "run", number: 2 } },
];
const titles = (text: string) => matching(entries, text).map(({ title }) => title);

test("an answer is never found by what it is about, only by its own name", () => {
  expect(titles("")).not.toContain("Approve: Pause the slugify job");
  expect(titles("slugify")).toEqual(["Run #2: Add slugify"]);
  expect(titles("pause")).toEqual(["Pause · run #2"]);
  expect(titles("ap")).toEqual([]);
  expect(titles("appr")).toEqual(["Approve: Pause the slugify job"]);
});

test("every word has to be there, in any order; what begins with the text comes first", () => {
  expect(titles("run")).toEqual(["Run #2: Add slugify", "Go to Runs", "Pause · run #2"]);
  expect(titles("runs pause")).toEqual(["Pause · run #2"]);
  expect(titles("pauze")).toEqual([]);
});
