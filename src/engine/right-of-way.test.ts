import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { createRightOfWay } from "./right-of-way.ts";

test("what has time waits for every agent that is about to begin, and for no other", async () => {
  const way = createRightOfWay();
  await way.free();
  way.claim("a");
  way.claim("b");
  let isFree = false;
  const freed = way.free().then(() => (isFree = true));
  for (const key of ["a", "unknown", "a"]) {
    way.give(key);
    for (let left = 5; left > 0; left -= 1) await turn();
    expect(isFree).toBe(false);
  }
  way.give("b");
  await freed;
});

test("on a machine where an agent is always about to begin it waits for two seconds at most", async () => {
  const way = createRightOfWay();
  way.claim("a");
  await way.free();
});
