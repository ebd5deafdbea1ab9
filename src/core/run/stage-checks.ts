// Which checks a stage runs: those of the project that its run was started with, and those of its flow. A flow's own definition counts
// where both have the name.

import { ALL_CHECKS, type NamedCheck } from "../flow/check-result.ts";
import type { Flow, WorkStage } from "../flow/flow.ts";
import { runFacts } from "./facts.ts";
import type { Run } from "./run.ts";

export type StageChecks = {
  readonly checks: readonly NamedCheck[];
  /** Names without a definition. */
  readonly unknown: readonly string[];
};

/** Null if the stage asks for no checks. */
export function stageChecks(
  flow: Pick<Flow, "checks">,
  run: Pick<Run, "facts">,
  { checks: wanted }: Pick<WorkStage, "checks">,
): StageChecks | null {
  if (wanted === undefined) return null;
  const defined = { ...runFacts(run).config.checks, ...flow.checks };
  const names = wanted === ALL_CHECKS ? Object.keys(defined) : [...new Set(wanted)];
  const checks = names.flatMap((name) => {
    const found = Object.hasOwn(defined, name) ? defined[name] : undefined;
    return found === undefined ? [] : [{ ...found, name }];
  });
  return { checks, unknown: names.filter((name) => !Object.hasOwn(defined, name)) };
}
