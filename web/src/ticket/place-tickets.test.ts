import { expect, test } from "vitest";
import { type Graph, placeTickets } from "./place-tickets.ts";

const node = (id: string, depth: number): Graph["nodes"][number] => ({
  id,
  depth,
  title: id,
  word: "Backlog",
  state: "eligible",
});

test("what has to be done first stands on the left, what waits on the right, and lines go from one to the other", () => {
  const { boxes, lines, width } = placeTickets({
    nodes: [node("A", -1), node("B", -1), node("C", 0), node("D", 1)],
    edges: [
      { from: "A", to: "C" },
      { from: "C", to: "D" },
      { from: "X", to: "D" },
    ],
    isCut: false,
  });
  const at = new Map(boxes.map((box) => [box.node.id, box]));
  expect(at.get("A")?.x).toBe(at.get("B")?.x);
  expect(at.get("A")?.x).toBeLessThan(at.get("C")?.x ?? 0);
  expect(at.get("C")?.x).toBeLessThan(at.get("D")?.x ?? 0);
  expect(lines.map(({ key }) => key)).toEqual(["A C", "C D"]);
  expect(Math.max(...boxes.map((box) => box.x + box.width))).toBeLessThanOrEqual(width);
});

test("no two boxes lie upon each other", () => {
  const { boxes } = placeTickets({
    nodes: Array.from({ length: 30 }, (_, at) => node(`T${at}`, (at % 5) - 2)),
    edges: [],
    isCut: false,
  });
  for (const a of boxes)
    for (const b of boxes)
      if (a !== b) expect(Math.abs(a.x - b.x) >= a.width || Math.abs(a.y - b.y) >= a.height).toBe(true);
});
