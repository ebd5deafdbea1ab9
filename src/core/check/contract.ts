// Checks that texts match what their stages promise: a heading that no prompt asks for will be missing from the handoff.

import type { WorkStage } from "../flow/flow.ts";
import type { CheckContext } from "./context.ts";
import { type FlowProblem, type Path, problem } from "./problem.ts";

const POLICY = "## Quality-gate re-execution policy";

export function contractProblems(stage: WorkStage, path: Path, context: CheckContext): readonly FlowProblem[] {
  const { textOf } = context;
  const own = textOf?.("agent", stage.agent);
  if (textOf === undefined || own === undefined) return [];
  const mine = [own, stage.promptFile === undefined ? "" : (textOf("prompt", stage.promptFile) ?? "")].join("\n");
  const form = textOf("prompt", `fragments/output-${stage.result.from}`) ?? "";
  const isPartOfForm = new Set([
    stage.result.health,
    stage.result.reason,
    stage.result.questions,
    "## Iteration",
    "## Abstract",
  ]);
  const missing = (heading: string): boolean =>
    !mine.includes(heading) && !(isPartOfForm.has(heading) && form.includes(heading));
  const broken = (heading: string, at: Path): FlowProblem =>
    problem(
      "prompt_contract_broken",
      at,
      `the text of agent ${stage.agent} does not mention "${heading}"`,
      `stage ${stage.id} relies on it: add the section to agents/${stage.agent}.md`,
    );
  return [
    ...stage.produces.flatMap((heading, index) =>
      missing(heading) ? [broken(heading, [...path, "produces", index])] : [],
    ),
    ...(stage.result.from === "handoff-file" && stage.result.health !== undefined && missing(stage.result.health)
      ? [broken(stage.result.health, path)]
      : []),
    ...(stage.gates !== undefined && missing(POLICY) ? [broken(POLICY, [...path, "gates"])] : []),
  ];
}
