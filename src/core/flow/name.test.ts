import { expect, test } from "vitest";
import { shippedFlow } from "../../../test/harness/shipped.ts";
import { isName } from "./name.ts";
import { simulate } from "../run/simulate.ts";

test.each(["build", "be-dev", "IN1", "a"])("%j is a name", (text) => {
  expect(isName(text)).toBe(true);
});

test.each(["", "1a", "../x", "a/b", "a b", "a\u0000", "constructor", "toString", `a${"b".repeat(48)}`, "ａ"])(
  "%j is no name",
  (text) => {
    expect(isName(text)).toBe(false);
  },
);

test("S12: an agent whose name is a path stops the run before anything is started", () => {
  const { final, events } = simulate(shippedFlow("routed"), [], { facts: { input: { agent: "../../etc" } } });
  expect(final).toMatchObject({ state: "stopped", status: "failed" });
  expect(events.some(({ type }) => type === "stage.ready")).toBe(false);
});
