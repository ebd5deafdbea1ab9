// The plan of a run with the flags of the command; plain JSON, so that another process can start it, too.

import type { RunPlan } from "../../../app/start-run/start-run.ts";

export type CommandPlan = RunPlan & { readonly flags: { readonly slots?: string } };
