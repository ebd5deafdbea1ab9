// The severity of a comment, in the words that agents use.

export const SEVERITIES = ["critical", "major", "minor"] as const;
export type Severity = (typeof SEVERITIES)[number];

export const DEFAULT_SEVERITY: Severity = "major";

export function severityOf(value: unknown): Severity {
  return SEVERITIES.find((each) => each === value) ?? DEFAULT_SEVERITY;
}
