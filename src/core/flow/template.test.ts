import { expect, test } from "vitest";
import { badFactPlaces, fillFacts, fillPrompt } from "./template.ts";

test("R-004-08: every {{KEY}} is replaced, and an unknown one is left as it is", () => {
  expect(fillPrompt("{{A}} and {{A}}, {{B}}, {{ A }}", { A: "x" })).toBe("x and x, {{B}}, {{ A }}");
});

test("R-004-10: values are inserted literally", () => {
  const values = { A: "$& $1 $$ {{B}} \\", B: "never seen" };
  expect(fillPrompt("<{{A}}>", values)).toBe("<$& $1 $$ {{B}} \\>");
});

test("names that every object has are not values", () => {
  expect(fillPrompt("{{constructor}} {{toString}} {{__proto__}}", {})).toBe(
    "{{constructor}} {{toString}} {{__proto__}}",
  );
});

test("{facts} are filled with the first that is set, and an empty place leaves nothing half filled", () => {
  const facts: Record<string, string | number> = { "ticket.id": "AGI-7", n: 2 };
  const lookup = (path: readonly string[]) => facts[path.join(".")];
  expect(fillFacts("feat/{ticket.group or ticket.id}", lookup)).toBe("feat/AGI-7");
  expect(fillFacts("[{n}]", lookup)).toBe("[2]");
  expect(fillFacts("feat/{ticket.group}", lookup)).toBeUndefined();
});

test("places that are not facts are found", () => {
  expect(badFactPlaces("feat/{ticket.group or ticket.id}/{n}")).toEqual([]);
  expect(badFactPlaces("{a b} {process.exit()} {'x'}")).toEqual(["{a b}", "{process.exit()}", "{'x'}"]);
});

test("long hostile texts take no time", () => {
  const before = performance.now();
  fillPrompt("{{A".repeat(100_000), { A: "x" });
  badFactPlaces("{a or ".repeat(50_000));
  expect(performance.now() - before).toBeLessThan(500);
});
