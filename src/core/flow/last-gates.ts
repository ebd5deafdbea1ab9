// The gates at which finished work waits to be accepted: no agent works after them.

import type { Flow, Stage } from "./flow.ts";

export function lastGates({ stages }: Pick<Flow, "stages">): readonly string[] {
  const lastWork = stages.findLastIndex((stage) => stage.kind !== "gate" && !isPassive(stage));
  return stages.slice(lastWork + 1).flatMap((stage) => (stage.kind === "gate" ? [stage.id] : []));
}

/** Changes no work: builtins only land it, and stages that the flow leaves to the forge only wait for a merge. */
export function isPassive(stage: Stage): boolean {
  if (stage.kind === "builtin") return true;
  return stage.kind === "agent" && stage.agent === "forge" && stage.options?.runner === "outside";
}
