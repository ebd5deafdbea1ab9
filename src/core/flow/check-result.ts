// Checks: programs that Passrail runs itself on finished work. Their exit codes decide; what an agent says about tests is a report.
// These types have no schema: code that only reads runs uses them too.

export const SUMMARY_PARSERS = [
  "vitest",
  "jest",
  "node-test",
  "pytest",
  "go",
  "cargo",
  "tsc",
  "eslint",
  "junit",
  "tap",
] as const;
export type SummaryParser = (typeof SUMMARY_PARSERS)[number];

/** Instead of names: every check that the project and the flow define. */
export const ALL_CHECKS = "all";

/** A check as a project or a flow defines it. */
export type CheckDefinition = {
  /** Program and arguments, never a shell line. */
  readonly run: readonly string[];
  readonly timeoutMs: number;
  readonly parse?: SummaryParser;
  /** The file that the parser reads instead of the output, inside the workspace. */
  readonly report?: string;
  /** Variables of Passrail's environment that the program gets, and on whose values its result depends. */
  readonly env: readonly string[];
};

export type NamedCheck = CheckDefinition & { readonly name: string };

/** The counts of a tool, as far as its summary has them. */
export type CheckCounts = {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly errors: number;
  readonly warnings: number;
};

/** "timed_out" and "not_started" say nothing about the work, so nothing may rely on them. */
export type CheckState = "passed" | "failed" | "timed_out" | "not_started";

/** The attempt that ran a check; another one has used its result since. */
export type CheckedBy = {
  readonly runId: string;
  readonly stage: string;
  readonly attempt: number;
  readonly at: string;
};

/** One check that Passrail ran, or the result that it took from an earlier one on the same tree. */
export type CheckResult = {
  readonly name: string;
  readonly command: string;
  readonly state: CheckState;
  readonly exitCode: number | null;
  /** Null if the files were not a commit: the user's own folder with changes, or a folder without git. */
  readonly commit: string | null;
  readonly tree: string | null;
  readonly startedAt: string;
  readonly endedAt: string;
  /** Absent without a parser, or if the output has no summary. */
  readonly counts?: CheckCounts;
  /** Why it did not pass, in words. */
  readonly why?: string;
  /** The name of its output file in the attempt's folder; empty if nothing was started. */
  readonly log: string;
  /** Tracked files that the check changed; in a workspace of its own Passrail puts them back. */
  readonly changed?: readonly string[];
  readonly cached?: CheckedBy;
};

/** A result that can be used again for the same program, tree and environment. */
export type CachedCheck = Pick<CheckResult, "command" | "startedAt" | "endedAt" | "counts" | "log"> & {
  readonly key: string;
  readonly exitCode: number;
  readonly tree: string;
  /** The end of its output, for the next agent. */
  readonly excerpt: string;
  readonly by: CheckedBy;
};

/** The key of a stage's route for a red check. */
export const CHECKS_FAILED = "checks_failed";

/** Whether a check prevents a pass. An empty list does not, and proves nothing. */
export function areRed(checks: readonly CheckResult[] | undefined): boolean {
  return checks?.some(({ state }) => state !== "passed") === true;
}

const CHECK_RULE = "check:";

/** Marks an issue as the output of a check: the next result replaces it. */
export function checkRule(name: string): string {
  return `${CHECK_RULE}${name}`;
}

export function isOfCheck(issue: string | { readonly rule?: string }): boolean {
  return typeof issue !== "string" && issue.rule?.startsWith(CHECK_RULE) === true;
}

/** One line for people and prompts: `test failed (npm test, exit 1; 2 failed, 40 passed)`. */
export function checkLine({ name, state, command, exitCode, counts, cached }: CheckResult): string {
  const parts = [
    command,
    ...(exitCode === null ? [] : [`exit ${exitCode}`]),
    ...(counts === undefined ? [] : [countsText(counts)].filter((text) => text !== "")),
    ...(cached === undefined ? [] : [`from run ${cached.runId} at ${cached.at}`]),
  ];
  return `${name} ${state.replace("_", " ")} (${parts.join("; ")})`;
}

function countsText(counts: CheckCounts): string {
  const said = (["failed", "errors", "warnings", "passed", "skipped"] as const).flatMap((name) =>
    counts[name] > 0 ? [`${counts[name]} ${name}`] : [],
  );
  return said.join(", ");
}
