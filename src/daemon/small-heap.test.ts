import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

/** Objects that live for a few collections, as those of runs at work do. */
const WORK = `
import { getHeapSpaceStatistics } from "node:v8";
if (process.argv[1] !== "") (await import(process.argv[1])).keepHeapSmall();
const alive = [];
for (let turn = 0; turn < 400; turn++) {
  for (let at = 0; at < 2000; at++) alive[(turn * 2000 + at) % 60000] = { turn, at, text: ["a", turn, at].join("-") };
  await new Promise(setImmediate);
}
console.log(getHeapSpaceStatistics().find((space) => space.space_name === "new_space").space_size / 2 ** 20);
`;

test("a process that performs keeps the space for new objects small, which V8 would let grow", () => {
  const [plain, kept] = ["", join(import.meta.dirname, "small-heap.ts")].map((module) =>
    Number(execFileSync(process.execPath, ["--input-type=module", "-e", WORK, module], { encoding: "utf8" })),
  );
  expect(kept).toBeLessThanOrEqual(32);
  expect(plain).toBeGreaterThan(32);
});
