import { expect, test } from "vitest";
import { successOf } from "./success.ts";

const none = { flow: "f", runs: 3, completed: 0, canceled: 0, stopped: 0, medianMs: null, medianUsd: null, loops: 0 };

test("a flow without ended runs has no rate, not a rate of zero", () => {
  expect(successOf(none)).toEqual({ rate: "—", of: "no run has ended yet" });
});

test("the rate counts what ended, and says what did not end well", () => {
  expect(successOf({ ...none, completed: 4 })).toEqual({ rate: "100 %", of: "4 of 4 succeeded" });
  expect(successOf({ ...none, completed: 2, stopped: 1, canceled: 3 })).toEqual({
    rate: "33 %",
    of: "2 of 6 succeeded (1 stopped, 3 canceled)",
  });
});
