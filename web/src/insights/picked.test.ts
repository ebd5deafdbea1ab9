import { expect, test } from "vitest";
import { pickedRuns, type ResultRow } from "./picked.ts";

const run = (number: number, more: Partial<ResultRow>) =>
  ({ number, ticket: `T${number}`, status: "completed", loops: 0, landed: false, agents: [], ...more }) as ResultRow;

test("a number leads to the runs it is made of", () => {
  const runs = [
    run(1, { agents: ["IN2"], ticket: "A" }),
    run(2, { loops: 2, ticket: "A", landed: true }),
    run(3, { status: "running" }),
  ];
  const numbers = (pick: string) => pickedRuns(pick, runs)?.runs.map(({ number }) => number);
  expect(numbers("agent=IN2")).toEqual([1]);
  expect([numbers("first=yes"), numbers("first=no"), numbers("looped=")]).toEqual([[1], [2], [2]]);
  // A ticket that landed cost what all of its runs cost.
  expect(numbers("landed=")).toEqual([1, 2]);
  expect([numbers("nothing"), numbers("__proto__=1"), pickedRuns(undefined, runs)]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
});
