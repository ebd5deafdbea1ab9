// Generated inputs are the same in every run, so that a test that passed before a change passes after it unless the change broke it.
// `PASSRAIL_SEED=random npm test` explores others; the report of a failure names its seed, and `PASSRAIL_SEED=<number>` repeats it.

import * as fc from "fast-check";

const asked = process.env["PASSRAIL_SEED"] ?? "20261117";
if (asked !== "random") fc.configureGlobal({ seed: Number(asked) });
