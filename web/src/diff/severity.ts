// How much a comment weighs. The words are those that agents use themselves.

export const SEVERITIES = ["critical", "major", "minor"] as const;
export type Severity = (typeof SEVERITIES)[number];

export const DEFAULT_SEVERITY: Severity = "major";

export function severityOf(value: unknown): Severity {
  return SEVERITIES.find((each) => each === value) ?? DEFAULT_SEVERITY;
}
