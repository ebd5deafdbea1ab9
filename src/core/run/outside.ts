// Which stages the engine leaves to the outside. Cached, because every change of a run asks for every ready stage.

import type { ResolvedFlow } from "../flow/agent.ts";
import type { WorkStage } from "../flow/flow.ts";
import type { JsonObject } from "../json.ts";
import { isPlayedOutside } from "../flow/runner-choice.ts";
import type { Run } from "./run.ts";

/** Keyed by the facts of a run, which stay the same object while the run works. */
const known = new WeakMap<JsonObject, Map<WorkStage, boolean>>();

export function isOutside(resolved: ResolvedFlow, { facts }: Pick<Run, "facts">, stage: WorkStage): boolean {
  const stages = known.get(facts) ?? new Map<WorkStage, boolean>();
  known.set(facts, stages);
  const found = stages.get(stage) ?? isPlayedOutside(resolved, facts, stage);
  stages.set(stage, found);
  return found;
}
