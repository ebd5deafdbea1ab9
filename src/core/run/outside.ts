// Which stages the engine leaves to somebody outside. Asked for every ready stage at every change of a run, so it is remembered.

import type { ResolvedFlow } from "../flow/agent.ts";
import type { WorkStage } from "../flow/flow.ts";
import type { JsonObject } from "../json.ts";
import { isPlayedOutside } from "../flow/runner-choice.ts";
import type { Run } from "./run.ts";

/** By the facts of a run, which stay the same object as long as the run is at work. */
const known = new WeakMap<JsonObject, Map<WorkStage, boolean>>();

export function isOutside(resolved: ResolvedFlow, { facts }: Pick<Run, "facts">, stage: WorkStage): boolean {
  const stages = known.get(facts) ?? new Map<WorkStage, boolean>();
  known.set(facts, stages);
  const found = stages.get(stage) ?? isPlayedOutside(resolved, facts, stage);
  stages.set(stage, found);
  return found;
}
