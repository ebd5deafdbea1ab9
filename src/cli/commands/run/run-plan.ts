// A run's plan with the flags of its command. It is plain JSON, so that a background process can start it.

import type { RunPlan } from "../../../app/start-run/start-run.ts";

export type CommandPlan = RunPlan & { readonly flags: { readonly slots?: string } };
