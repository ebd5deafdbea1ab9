import { expect, test } from "vitest";
import { readValue, textOf } from "./setting-value.ts";

test("amounts are read as people type them; nothing is no value, none is no limit, anything else is refused", () => {
  const usd = (text: string) => readValue({ kind: "usd", mayBeNone: true }, text);
  expect([usd("40"), usd(" $1,250.50 "), usd(""), usd("none")]).toEqual([40, 1250.5, null, "none"]);
  expect([usd("-1"), usd("0"), usd("forty"), usd("Infinity")]).toEqual([undefined, undefined, undefined, undefined]);
  const count = (text: string) => readValue({ kind: "count", mayBeNone: false }, text);
  expect([count("5 000 000"), count("1.5"), count("none")]).toEqual([5_000_000, undefined, undefined]);
});

test("switches and names are read, and written values are shown", () => {
  expect(readValue({ kind: "switch", mayBeNone: false }, "false")).toBe(false);
  expect(readValue({ kind: "switch", mayBeNone: false }, "yes")).toBeUndefined();
  expect(readValue({ kind: "name", mayBeNone: false }, " opus ")).toBe("opus");
  expect([textOf(null), textOf(true), textOf(40), textOf("none"), textOf({ a: 1 })]).toEqual([
    "",
    "true",
    "40",
    "none",
    "",
  ]);
});
