import { expect, test } from "vitest";
import { differenceOf, type NodeNote } from "./node-note.ts";

const NODE: NodeNote = {
  host: "a",
  url: "http://a:1",
  version: "1",
  performs: true,
  settings: { slots: "x", workers: "y" },
};

test("nodes with other settings or another version are named with what differs", () => {
  expect(differenceOf(NODE, { ...NODE, host: "b", performs: false })).toBeUndefined();
  const other = {
    ...NODE,
    host: "b",
    url: "http://b:1",
    version: "2",
    settings: { slots: "x", workers: "z", merge: "m" },
  };
  expect(differenceOf(NODE, other)).toBe(
    "the node http://b:1 on b has version 2 (here 1), and other settings: merge, workers",
  );
});
