import { expect, test } from "vitest";
import { checkBoxes, checkOff } from "./check-boxes.ts";

const PLAN = "# Plan\n\n- [ ] one\n* [x] two\n  + [ ] three\r\n```\n- [ ] an example\n```\n- [ ]\n- [] no\n- [ ] one\n";

test("R-001-44: rows are the check boxes outside of fences, in order", () => {
  expect(checkBoxes(PLAN)).toEqual([
    { line: 2, isDone: false, text: "one" },
    { line: 3, isDone: true, text: "two" },
    { line: 4, isDone: false, text: "three" },
    { line: 10, isDone: false, text: "one" },
  ]);
});

test("R-001-44: checking off changes one box, and a box that is gone or checked changes nothing", () => {
  const once = checkOff(PLAN, "one");
  expect(once).toBe(PLAN.replace("- [ ] one", "- [x] one"));
  expect(checkBoxes(checkOff(once, "one")).filter(({ isDone }) => isDone)).toHaveLength(3);
  expect(checkOff(PLAN, "two")).toBe(PLAN);
  expect(checkOff(PLAN, "an example")).toBe(PLAN);
});

test("hostile text is read in linear time", () => {
  const text = `${"- [ ] ".repeat(200_000)}\n${" ".repeat(500_000)}- [ ] x\n${"- [ ] y\n".repeat(50_000)}`;
  const began = performance.now();
  expect(checkBoxes(text).length).toBe(50_000);
  expect(performance.now() - began).toBeLessThan(2000);
});
