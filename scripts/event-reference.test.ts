import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { EVENTS_PATH, eventReference } from "./event-reference.ts";

test("docs/events.md names every event with its fields; node scripts/event-reference.ts writes it", () => {
  const rows = (text: string) => text.split("\n").filter((line) => line.startsWith("| `"));
  const made = rows(eventReference());
  expect(made.length).toBeGreaterThan(50);
  expect(made.filter((row) => row.includes("``") || row.includes("`…"))).toEqual([]);
  expect(rows(readFileSync(EVENTS_PATH, "utf8"))).toEqual(made);
});
