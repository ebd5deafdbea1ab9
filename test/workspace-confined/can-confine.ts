// Tests of the real bubblewrap run wherever it works. In CI it must: there a machine without it is a failure and not a reason to look away.

import { describe } from "vitest";
import { bubblewrapFinder } from "../../src/workspace/bubblewrap/check.ts";

const found = await bubblewrapFinder(process.env, "off")();
const wanted = found.ok || process.env["CI"] === "true";

/** Like `describe`; what is left out says why in its name. */
export const describeBubblewrap = (name: string, tests: () => void): void => {
  if (wanted) describe(name, { timeout: 60_000 }, tests);
  else describe.skip(`${name} (left out: ${found.ok ? "" : found.error.message})`, tests);
};
