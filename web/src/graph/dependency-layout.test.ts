import * as fc from "fast-check";
import { expect, test } from "vitest";
import { placeDependencies } from "./dependency-layout.ts";

const before = (...pairs: readonly string[]) =>
  pairs.map((pair) => {
    const [from = "", to = ""] = pair.split(" ");
    return { from, to };
  });

/** The numbers of a path's two ends. */
function endsOf(path: string): { readonly from: readonly number[]; readonly to: readonly number[] } {
  const numbers = (path.match(/-?\d+(?:\.\d+)?/gu) ?? []).map(Number);
  return { from: numbers.slice(0, 2), to: numbers.slice(-2) };
}

test("what must be done first is on the left, and each arrow begins and ends at its own boxes", () => {
  // Two dependants of one ticket in the same column, and one that needs both.
  const edges = before("A B", "A C", "B D", "C D");
  const { boxes, lines } = placeDependencies(["A", "B", "C", "D"], edges);
  const at = (id: string) => boxes.get(id) ?? { x: 0, y: 0, width: 0, height: 0 };
  expect(at("A").x).toBeLessThan(at("B").x);
  expect(at("B").x).toBe(at("C").x);
  expect(at("B").y).not.toBe(at("C").y);
  expect(at("C").x).toBeLessThan(at("D").x);
  for (const { from, to, path } of lines) {
    const [x1 = 0, y1 = 0] = endsOf(path).from;
    const [x2 = 0, y2 = 0] = endsOf(path).to;
    expect(x1).toBe(at(from).x + at(from).width);
    expect(y1).toBeGreaterThanOrEqual(at(from).y);
    expect(y1).toBeLessThanOrEqual(at(from).y + at(from).height);
    expect(x2).toBe(at(to).x);
    expect(y2).toBeGreaterThanOrEqual(at(to).y);
    expect(y2).toBeLessThanOrEqual(at(to).y + at(to).height);
  }
});

test("a circle is drawn with the arrow back, and an edge to nothing is left out", () => {
  const { lines } = placeDependencies(["A", "B"], before("A B", "B A", "X A", "A A"));
  expect(lines.map(({ from, to }) => `${from} ${to}`)).toEqual(["A B", "B A"]);
  expect(lines.every(({ path }) => path.startsWith("M"))).toBe(true);
});

test("whatever depends on whatever, no box covers another and every arrow is inside the picture", () => {
  const node = fc.integer({ min: 0, max: 12 }).map(String);
  const ids = Array.from({ length: 13 }, (_, at) => String(at));
  fc.assert(
    fc.property(fc.array(fc.record({ from: node, to: node }), { maxLength: 25 }), (edges) => {
      const { boxes, lines, width, height } = placeDependencies(ids, edges);
      const all = [...boxes.values()];
      for (const [at, a] of all.entries())
        for (const b of all.slice(at + 1))
          expect(a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y).toBe(
            true,
          );
      for (const { path } of lines) expect(path).not.toContain("NaN");
      for (const { x, y, width: w, height: h } of all) {
        expect(x).toBeGreaterThanOrEqual(0);
        expect(y).toBeGreaterThanOrEqual(0);
        expect(x + w).toBeLessThanOrEqual(width);
        expect(y + h).toBeLessThanOrEqual(height);
      }
    }),
    { numRuns: 60 },
  );
});
