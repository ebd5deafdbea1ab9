// Somebody tampered with a path that Passrail needs. It ends the attempt wherever it is found: whatever the agent said does not count.

import { TAMPERED } from "../file/confined.ts";
import type { Problem, Result } from "../core/result.ts";
import type { Report } from "../core/flow/outcome.ts";

/** Thrown through the attempt; `runStage` turns it into the report. */
export class TamperedError extends Error {
  readonly problem: Problem;
  constructor(problem: Problem) {
    super(problem.message);
    this.name = "TamperedError";
    this.problem = problem;
  }
}

/** The value of a confined access. */
export function untampered<T>(result: Result<T>): T {
  if (result.ok) return result.value;
  if (result.error.code === TAMPERED) throw new TamperedError(result.error);
  throw new Error(result.error.message);
}

export function tamperedReport({ message }: Problem, report: Report = {}): Report {
  return { ...report, cause: TAMPERED, reason: message };
}
