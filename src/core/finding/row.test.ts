import { expect, test } from "vitest";
import { rowOf, withRows } from "./row.ts";

const TASK = ["[ ] The route `GET /users` exists", "[ ] AC-2: It needs a login", "[ ] The route"];

test.each([
  ["The route `GET /users` exists — no such file", "the route get /users exists"],
  ["✗ the route GET /users exists: still missing", "the route get /users exists"],
  ["The routes are slow", undefined],
  ["the route get /users  exists", "the route get /users exists"],
  ["AC-2 — anyone may call it", "ac-2: it needs a login"],
  ["AC 2: nobody asks", "ac-2: it needs a login"],
  ["Something else entirely", undefined],
])("the row of %j", (gap, row) => {
  const [found] = withRows([gap], TASK);
  const own = typeof found === "object" ? found.row : undefined;
  expect(own).toBe(row);
});

test("without the task's list the text before the dash is the row, in any spelling of marks and white space", () => {
  expect(rowOf("- is no mark here — a")).toBe(rowOf("- is no mark here — b"));
  expect(rowOf("✗ Row  one. — a")).toBe(rowOf({ description: "row one — b", severity: "major" }));
  expect(rowOf("row one — a")).not.toBe(rowOf("row two — a"));
});
