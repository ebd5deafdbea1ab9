// `build-plan SPEC PLAN TASK`: names the three files as inputs of the family build-plan and starts the flow that the plan chooses.

import { readInputFile } from "../../../file/input-file.ts";
import type { Io } from "../../terminal/io.ts";
import { titleOf } from "../../task-text.ts";
import { run, type RunOptions } from "../run/run.ts";

export type PlanFiles = { readonly spec: string; readonly plan: string; readonly task: string };

const FAMILY = "build-plan";

export function buildPlan(io: Io, files: PlanFiles, options: RunOptions): Promise<number> {
  const { spec, plan, task } = files;
  const named = [`plan.spec=${spec}`, `plan.plan=${plan}`, `plan.task=${task}`];
  const body = [`Spec: ${spec}`, `Plan: ${plan}`, `Task: ${task}`].join("\n");
  return run(io, FAMILY, body, {
    ...options,
    input: [...named, ...options.input],
    title: options.title ?? titleIn(io, task),
  });
}

/** A file that cannot be used is named later, with its reason. */
function titleIn(io: Io, task: string): string {
  const read = readInputFile(io.cwd, task);
  const title = read.ok ? titleOf(read.value.text) : "";
  return title === "" ? task : title;
}
