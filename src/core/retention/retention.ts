// How long Passrail keeps what ended runs leave behind, and which of it is due. Whether its work has landed is asked before anything goes.

export type RetentionRules = {
  /** Prompts, logs, events and diffs of attempts. */
  readonly files: FilesRule;
  /** The copies of logs for people, one folder per ticket. */
  readonly logs: AgeRule;
  /** The runs themselves, with their events. */
  readonly runs: AgeRule;
};

/** Null: no limit. */
export type AgeRule = { readonly ageMs: number | null };
export type FilesRule = AgeRule & {
  /** The newest of this many ended runs keep their files. */
  readonly count: number | null;
  /** The maximum size of all runs' files together; those of the oldest run are removed first. */
  readonly bytes: number | null;
};

export type EndedFiles = {
  readonly runId: string;
  readonly number: number;
  readonly endedAt: string;
  readonly bytes: number;
};
export type Because = "age" | "count" | "size";

/** The position of a run among the others. */
export type PlaceInLine = {
  /** The number of ended runs that are newer. */
  readonly newer: number;
  /** The present size of all runs, without those that are removed before it. */
  readonly totalBytes: number;
};

/** Undefined: its files stay. */
export function whyDue({ endedAt }: EndedFiles, at: PlaceInLine, rule: FilesRule, nowMs: number): Because | undefined {
  if (isOlder(endedAt, rule, nowMs)) return "age";
  if (rule.count !== null && at.newer >= rule.count) return "count";
  return rule.bytes !== null && at.totalBytes > rule.bytes ? "size" : undefined;
}

/** An unreadable time, or one in the future, is not old. */
export function isOlder(time: string, { ageMs }: AgeRule, nowMs: number): boolean {
  return ageMs !== null && nowMs - Date.parse(time) > ageMs;
}

/** The note that stays in the place of removed files. */
export type RemovedNote = { readonly at: string; readonly because: Because; readonly bytes: number };

const REASONS: Readonly<Record<Because, string>> = {
  age: "they were older than retention.files.age",
  count: "retention.files.count newer runs have theirs",
  size: "all of them took more than retention.files.size",
};

export function reasonText(because: Because): string {
  return REASONS[because];
}

/** For a person who asks for a file that is gone. */
export function removedText({ at, because }: RemovedNote): string {
  return `Passrail removed the files of this run's attempts on ${at.slice(0, 10)}: ${reasonText(because)}. Events, verdicts and costs are kept.`;
}

export function sizeOfBytes(bytes: number): string {
  const unit = bytes >= 1e9 ? ([1e9, "GB"] as const) : bytes >= 1e6 ? ([1e6, "MB"] as const) : ([1e3, "kB"] as const);
  return `${(bytes / unit[0]).toFixed(bytes >= 1e8 && unit[1] === "MB" ? 0 : 1)} ${unit[1]}`;
}
