// Tests of the real bubblewrap run wherever it works. In CI it must: there a machine without it is a failure and not a reason to look away.

import { bubblewrapFinder } from "../../../src/workspace/sandbox/bubblewrap/check.ts";

const found = await bubblewrapFinder(process.env, "off")();
const wanted = found.ok || process.env["CI"] === "true";

/** For a name of tests that are left out: why. */
export const bubblewrapTests: "run" | "left out" = wanted ? "run" : "left out";
export const whyLeftOut: string = found.ok || wanted ? "" : ` (left out: ${found.error.message})`;
