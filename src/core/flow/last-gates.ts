// The gates at which finished work waits to be accepted: no agent works after them.

import type { Flow, Stage } from "./flow.ts";

export function lastGates({ stages }: Pick<Flow, "stages">): readonly string[] {
  const lastWork = stages.findLastIndex(needsWork);
  return stages.slice(lastWork + 1).flatMap((stage) => (stage.kind === "gate" ? [stage.id] : []));
}

/** Builtins only land the work, and stages that the flow leaves to the outside only wait for a merge. */
function needsWork(stage: Stage): boolean {
  if (stage.kind === "gate" || stage.kind === "builtin") return false;
  return !("options" in stage) || stage.options?.runner !== "outside";
}
