import { expect, test } from "vitest";
import { createTailRing } from "./tail-ring.ts";

/** Pieces of growing and shrinking sizes, each byte different from its neighbours. */
function* pieces(sizes: readonly number[]): Generator<Buffer> {
  let next = 0;
  for (const size of sizes) yield Buffer.from(Array.from({ length: size }, () => next++ % 251));
}

test.each([
  ["below its first memory", 1_000_000, [1, 0, 500, 70]],
  ["beyond its first memory", 1_000_000, [65_536, 1, 200_000, 3]],
  ["at its edge", 100_000, [50_000, 50_000, 1, 99_999, 100_000]],
  ["with a piece larger than itself", 70_000, [10, 200_000, 65_000, 9_999]],
  ["smaller than its first memory", 7, [3, 4, 1, 20, 6]],
  ["without memory", 0, [3, 4]],
])("a ring %s keeps the last bytes in order, after every piece", (_, capacity, sizes) => {
  const ring = createTailRing(capacity);
  let all = Buffer.alloc(0);
  expect(ring.bytes()).toHaveLength(0);
  for (const piece of pieces(sizes)) {
    ring.push(piece);
    all = Buffer.concat([all, piece]);
    expect(ring.total()).toBe(all.length);
    expect(ring.bytes().equals(all.subarray(Math.max(0, all.length - capacity)))).toBe(true);
  }
});

test("a ring for megabytes takes little memory for a program that says little", () => {
  const ring = createTailRing(8 * 1024 * 1024);
  ring.push(Buffer.from("done\n"));
  expect(ring.bytes().buffer.byteLength).toBeLessThanOrEqual(64 * 1024);
});
