import { expect, test } from "vitest";
import { missingSections } from "./produces.ts";

test("a section counts with something below its heading, outside code and comments", () => {
  const text = "## Iteration\n\niter 1\n\n## DoD-Coverage\n\n<!-- later -->\n\n```\n## Gates\n- x\n```\n";
  expect(missingSections(text, ["## Iteration", "## DoD coverage", "## Gates", "## Other"])).toEqual([
    "## Gates",
    "## Other",
  ]);
  expect(missingSections("## A\n<!-- x -->\n## B\nNone\n", ["## A", "## B"])).toEqual(["## A"]);
});
