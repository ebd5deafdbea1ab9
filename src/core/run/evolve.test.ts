import { expect, test } from "vitest";
import { shippedFlow } from "../../../test/harness/shipped.ts";
import type { RunEvent } from "./event.ts";
import { evolve } from "./evolve.ts";
import { simulate } from "./simulate.ts";

const { run } = simulate(shippedFlow("routed"), [], { facts: {} });

test.each(["run.vanished", "constructor", "__proto__"])(
  "an event of the unknown type %s is refused by name",
  (type) => {
    const event = { type, at: "2026-01-01T00:00:00.000Z", actor: "engine" } as unknown as RunEvent;
    expect(() => evolve(run, event)).toThrow(`there is no event type ${type}`);
  },
);

test("a history that does not begin with the creation of the run is refused", () => {
  const event: RunEvent = { type: "run.unpaused", at: "2026-01-01T00:00:00.000Z", actor: "engine" };
  expect(() => evolve(undefined, event)).toThrow("the first event of a run must be run.created, not run.unpaused");
});
