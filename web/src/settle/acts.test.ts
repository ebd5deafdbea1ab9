import { expect, test } from "vitest";
import { asksFor, isDangerous, isDoing, mayNot, nameOf } from "./acts.ts";

test("a button is named after its act, and a move after where it leads", () => {
  expect(nameOf({ verb: "pull request", act: { do: "propose" } })).toBe("Pull request");
  expect(nameOf({ verb: "move", act: { do: "move", to: "Needs Implement" } })).toBe("Move to Needs Implement");
  expect(nameOf({ verb: "cancel", act: { do: "move", to: "Canceled" } })).toBe("Cancel");
});

test("only acts of the API are done here; links and commands for a terminal are not", () => {
  expect(isDoing({ do: "discard" })).toBe(true);
  expect([{ do: "type" } as const, { do: "open", url: "https://x.test" } as const].map(isDoing)).toEqual([
    false,
    false,
  ]);
});

test("skipping asks for a reason, and what takes something away looks dangerous", () => {
  expect(asksFor({ do: "skip", stage: "qa" })?.isNeeded).toBe(true);
  expect(asksFor({ do: "merge" })).toBeNull();
  expect(isDangerous({ do: "discard" })).toBe(true);
  expect(isDangerous({ do: "move", to: "Canceled" })).toBe(true);
  expect(isDangerous({ do: "retry", stage: "qa" })).toBe(false);
});

test("a login that may only look gets the reason", () => {
  expect(mayNot(undefined)).toBeUndefined();
  expect(mayNot({ scopes: ["read", "operate"] })).toBeUndefined();
  expect(mayNot({ scopes: ["read"] })).toBe("This login may only look.");
});
