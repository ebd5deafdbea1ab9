import { expect, test } from "vitest";
import { filesOf, runsAsked } from "./asked.ts";

test("an address names at most four runs, each once, and nothing else", () => {
  expect(runsAsked("12,r0a1b2c3d4e,12, 7 ,<img>,0,3,4")).toEqual(["12", "r0a1b2c3d4e", "7", "3"]);
  expect(runsAsked(undefined)).toEqual([]);
});

test("files that several runs changed come first, and a run that left a file alone says so", () => {
  const file = (path: string, added: number) => ({ path, added, removed: 0 });
  expect(filesOf([[file("a.ts", 1), file("z.ts", 2)], [file("z.ts", 9)]])).toEqual([
    { path: "z.ts", stats: [file("z.ts", 2), file("z.ts", 9)] },
    { path: "a.ts", stats: [file("a.ts", 1), null] },
  ]);
});
