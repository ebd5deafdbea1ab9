// Which files and folders a flow's runs are started with, and which stages read them.

import type { Flow, FlowInput, Stage, WorkStage } from "../flow/flow.ts";

/** Parts of prompts that come from the files of a start. */
const PARTS: ReadonlySet<string> = new Set(["spec", "task", "bundle"]);

/** The inputs that the flow declares. A flow that reads a plan's files without declaring them takes them if they are given. */
export function inputsOf(flow: Flow): readonly FlowInput[] {
  if (flow.inputs !== undefined) return flow.inputs;
  return flow.stages.some(stagesRead) ? IMPLIED : [];
}

const IMPLIED: readonly FlowInput[] = ["plan.spec", "plan.plan", "plan.task"].map((name) => ({
  name,
  kind: "file",
  required: false,
  states: [],
}));

/** Whether the prompt of this stage has the content of these files. */
export function readsInputs({ kind, agent, prompt, promptFile }: WorkStage): boolean {
  if (kind === "builtin") return agent === "bundles";
  return promptFile === undefined && prompt.some((part) => PARTS.has(part));
}

function stagesRead(stage: Stage): boolean {
  switch (stage.kind) {
    case "gate":
      return false;
    case "parallel":
      return Object.values(stage.tracks).some(({ stages }) => stages.some(readsInputs));
    case "dynamic":
      return Object.values(stage.templates).some(readsInputs);
    case "agent":
    case "builtin":
    case "router":
      return readsInputs(stage);
  }
}
