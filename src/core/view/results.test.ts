import { expect, test } from "vitest";
import { type ResultRun, resultsOf } from "./results.ts";

const run = (number: number, ticket: string, more: Partial<ResultRun> = {}): ResultRun => ({
  id: `r${number}`,
  number,
  title: `Do ${ticket}`,
  ticket,
  flow: "feature",
  status: "completed",
  day: "2026-01-01",
  loops: 0,
  landed: false,
  usd: null,
  unknownUsd: 0,
  tokens: 0,
  agents: [],
  stages: [],
  runners: [],
  models: [],
  ...more,
});

test("a landed ticket costs what all of its runs cost; one with unknown cost is counted apart", () => {
  const found = resultsOf([
    run(1, "A", { usd: 2, status: "canceled", loops: 2 }),
    run(2, "A", { usd: 1, landed: true }),
    run(3, "B", { usd: 9, landed: true, unknownUsd: 1 }),
    run(4, "C", { usd: 5 }),
    run(5, "D", { landed: true }),
  ]);
  expect(found.landed).toEqual({ tickets: 3, known: 1, usdPerTicket: 3 });
  expect(found.tickets.map(({ ticket, usd, runs }) => [ticket, usd, runs])).toEqual([
    ["B", 9, [3]],
    ["C", 5, [4]],
    ["A", 3, [1, 2]],
    ["D", null, [5]],
  ]);
});

test("runs that passed at the first try are counted of the completed ones; without any there is no rate", () => {
  const found = resultsOf([run(1, "A"), run(2, "B", { loops: 3 }), run(3, "C", { status: "running", loops: 9 })]);
  expect([found.firstPass, found.loopsPerRun]).toEqual([{ passed: 1, of: 2 }, 1.5]);
  expect(resultsOf([])).toMatchObject({ firstPass: { passed: 0, of: 0 }, loopsPerRun: null, tickets: [] });
});
