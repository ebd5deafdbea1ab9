// Checks the keys of `inputs`: each fits its kind, and each stated fact has one meaning.

import type { FlowFile } from "../flow/flow-file.ts";
import { type FlowProblem, type Path, problem } from "./problem.ts";

/** Properties of every object: a fact with such a name would not be a fact. */
const RESERVED: ReadonlySet<string> = new Set(["__proto__", "prototype", "constructor"]);

export function inputProblems({ inputs = {}, bundles }: Pick<FlowFile, "inputs" | "bundles">): readonly FlowProblem[] {
  const problems: FlowProblem[] = [];
  const stated = new Set<string>();
  for (const [name, { kind, states = {}, repository }] of Object.entries(inputs)) {
    const path: Path = ["inputs", name];
    if (isReserved(name)) problems.push(reserved(path, name));
    if (kind === "file" && repository !== undefined)
      problems.push(problem("input_invalid", [...path, "repository"], `${name} is a file, not a repository`));
    if (kind === "folder" && Object.keys(states).length > 0)
      problems.push(problem("input_invalid", [...path, "states"], `${name} is a folder: it states nothing`));
    for (const [fact, { one_of, yes_no }] of Object.entries(states)) {
      const place = [...path, "states", fact];
      if (isReserved(fact) || !fact.includes(".")) problems.push(reserved(place, fact));
      if ((one_of === undefined) === (yes_no === undefined))
        problems.push(
          problem("input_invalid", place, `${fact} needs one of one_of and yes_no`, "for example yes_no: true"),
        );
      if (stated.has(fact)) problems.push(problem("input_invalid", place, `two files state ${fact}`));
      stated.add(fact);
    }
  }
  for (const [index, rule] of (bundles?.rules ?? []).entries())
    if (rule.startsWith("/") || rule.split("/").includes(".."))
      problems.push(problem("unsafe_path", ["bundles", "rules", index], `"${rule}" is not a path inside the project`));
  return problems;
}

const isReserved = (name: string): boolean => name.split(".").some((part) => RESERVED.has(part));

const reserved = (path: Path, name: string): FlowProblem =>
  problem("input_invalid", path, `"${name}" is not the name of a fact`, "for example plan.spec");
