// Everything a run is started with; plain JSON, so that another process can start it too.

import type { ResolvedFlow } from "../core/flow/agent.ts";
import type { JsonObject } from "../core/json.ts";
import type { Subject } from "../core/run/run.ts";

export type RunPlan = {
  readonly runId: string;
  readonly resolved: ResolvedFlow;
  readonly subject: Subject;
  readonly facts: JsonObject;
  readonly flags: { readonly slots?: string };
};
