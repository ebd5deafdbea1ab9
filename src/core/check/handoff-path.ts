// Checks `handoffs.path`: a plain path in a folder of its own, with a different file for every attempt.

import type { FlowFile } from "../flow/flow-file.ts";
import { handoffPath, handoffPathFault } from "../flow/handoff-path.ts";
import type { StagePlace } from "./places.ts";
import { type FlowProblem, problem } from "./problem.ts";

const AT = ["handoffs", "path"];

export function handoffPathProblems(file: FlowFile, places: readonly StagePlace[]): readonly FlowProblem[] {
  const template = file.handoffs?.path;
  if (template === undefined) {
    if (file.handoffs?.commit === undefined) return [];
    return [problem("handoff_path_missing", ["handoffs", "commit"], `"commit" needs "path"`, "add handoffs.path")];
  }
  const fault = handoffPathFault(template);
  if (fault !== undefined) return [problem("handoff_path_invalid", AT, `handoffs.path: ${fault}`)];
  const seen = new Map<string, string>();
  return places.flatMap(({ stage }) => {
    if (stage.kind !== "agent" || stage.result.from !== "handoff-file") return [];
    const names = { feature: "f", run: "r", track: "t", stage: stage.id, role: stage.agent, iteration: 1 };
    const path = handoffPath(template, names);
    const other = seen.get(path);
    seen.set(path, stage.id);
    if (other === undefined || other === stage.id) return [];
    const said = `the stages ${other} and ${stage.id} would write the same handoff file`;
    return [problem("handoff_path_shared", AT, said, "use {stage} instead of {role}")];
  });
}
