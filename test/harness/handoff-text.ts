// A handoff file as an agent of source 002 writes it, and player outcomes made from it.

import type { JsonObject } from "../../src/core/json.ts";
import type { Script } from "./workbench.ts";

export type HandoffDeps = {
  readonly status?: string;
  readonly reason?: string;
  readonly verdict?: string;
  readonly findings?: readonly string[];
  readonly gaps?: readonly string[];
  readonly questions?: readonly string[];
  readonly gates?: readonly string[];
  readonly blame?: string;
  /** Rows of the DoD coverage, without the dash before them. */
  readonly dod?: readonly string[];
  /** Default: that of the attempt, as the player is told it. */
  readonly iteration?: number | string;
};

export function handoffText(parts: HandoffDeps = {}): string {
  const list = (items: readonly string[] = []) =>
    items.length === 0 ? "None" : items.map((item) => `- ${item}`).join("\n");
  const {
    status = "complete",
    reason = "",
    verdict = "n/a",
    questions,
    gates,
    blame,
    iteration = "$ITERATION",
  } = parts;
  return `## Status

${status}

## Status reason

${reason}

## Abstract

outcome: it was done
verdict: ${verdict}
files: 0 created, 0 modified, 0 deleted
open_questions: ${questions?.length ?? 0}
${blame === undefined ? "" : `blame: ${blame}\n`}
## Iteration

iter ${iteration}

## Quality-Gate Results

${list(gates)}

## DoD coverage

${list(parts.dod ?? ["✓ the thing exists — README.md:1"])}

## Open Questions

${list(questions)}

## Findings

${list(parts.findings)}

## Gaps

${list(parts.gaps)}
`;
}

/** The player writes this handoff and ends; `more` are further keys of the player. */
export function hands(parts: HandoffDeps = {}, more: JsonObject = {}): JsonObject {
  return { via: "handoff-file", text: handoffText(parts), ...more };
}

export const APPROVED: JsonObject = hands({ verdict: "APPROVED" });

/** One outcome per attempt of a stage, whatever its loop; the last one repeats. */
export function each(stage: string, ...outcomes: readonly JsonObject[]): Script {
  const numbered = outcomes.map((outcome, index) => [`${stage}#${index + 1}`, [outcome]] as const);
  return { ...Object.fromEntries(numbered), [stage]: outcomes.slice(-1) };
}
