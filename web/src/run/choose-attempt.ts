import type { RunAttempt } from "./types.ts";

/** The attempt in the address; else the running one of that stage or of all; else the latest. */
export function chooseAttempt(
  attempts: readonly RunAttempt[],
  stage: string | undefined,
  attempt: string | undefined,
): RunAttempt | undefined {
  const of = stage === undefined ? attempts : attempts.filter((each) => each.stage === stage);
  const named = of.find((each) => String(each.attempt) === attempt);
  const byTime = of.toSorted((a, b) => a.readyAt.localeCompare(b.readyAt));
  return named ?? byTime.findLast(({ status }) => status === "running") ?? byTime.at(-1);
}
