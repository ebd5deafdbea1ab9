// Which branch a run works on: the flow's pattern filled with the run's facts, or one named after the run.

import type { Flow } from "../flow/flow.ts";
import type { Json } from "../json.ts";
import type { Run } from "./run.ts";
import { factOf } from "./sequence.ts";
import { fillFacts } from "../flow/template.ts";

export function branchOf(flow: Flow, run: Run): string {
  const plan = flow.workspace.branch;
  const filled = plan === undefined ? undefined : fillFacts(plan, (path) => branchFact(run, path));
  return filled ?? `passrail/${run.id}`;
}

/** `{story.number}` is the part of a story's id after the version: 1.1.1 of v0.1:1.1.1. */
function branchFact(run: Run, path: readonly string[]): Json | undefined {
  const found = factOf(run, path);
  if (found !== undefined) return found;
  if (path.at(-1) === "id") return run.subject.id;
  return path.at(-1) === "number" ? run.subject.id.slice(run.subject.id.indexOf(":") + 1) : undefined;
}
