// Findings of agents and their places in a diff. A finding about an unknown file or a line that is not shown goes to a separate list.

import type { FileDiff } from "./parse.ts";

export type DiffFinding = {
  /** The stage and attempt that reported it. */
  readonly by: string;
  readonly severity: string | null;
  readonly description: string;
  readonly file: string | null;
  readonly line: number | null;
};

export type PlacedFindings = {
  /** By the file's path in the diff, then by the line of its new text. */
  readonly inLines: ReadonlyMap<string, ReadonlyMap<number, readonly DiffFinding[]>>;
  readonly elsewhere: readonly DiffFinding[];
};

export const NOTHING_FOUND: PlacedFindings = { inLines: new Map(), elsewhere: [] };

const MOST = 500;

type Stage = {
  readonly attempts: readonly {
    readonly stage: string;
    readonly attempt: number;
    readonly issues: readonly unknown[];
  }[];
};

/** From every stage's last attempt: later work has answered the findings of earlier attempts. */
export function findingsOf(stages: readonly Stage[]): readonly DiffFinding[] {
  return stages
    .flatMap(({ attempts }) => attempts.slice(-1))
    .flatMap(({ stage, attempt, issues }) => issues.map((issue) => findingOf(`${stage} #${attempt}`, issue)))
    .slice(0, MOST);
}

function findingOf(by: string, issue: unknown): DiffFinding {
  if (typeof issue !== "object" || issue === null)
    return { by, severity: null, description: String(issue), file: null, line: null };
  const { severity, description, file, line } = issue as Readonly<Record<string, unknown>>;
  return {
    by,
    severity: typeof severity === "string" ? severity : null,
    description: typeof description === "string" ? description : JSON.stringify(issue),
    file: typeof file === "string" && file !== "" ? file : null,
    line: typeof line === "number" && Number.isSafeInteger(line) && line > 0 ? line : null,
  };
}

export function placeFindings(files: readonly FileDiff[], findings: readonly DiffFinding[]): PlacedFindings {
  if (findings.length === 0) return NOTHING_FOUND;
  const paths = files.map(({ path }) => path);
  const wanted = new Map<string, Map<number, DiffFinding[]>>();
  const elsewhere: DiffFinding[] = [];
  const shown = new Map<string, ReadonlySet<number>>();
  for (const finding of findings) {
    const path = finding.file === null ? undefined : pathOf(finding.file, paths);
    const file = files.find((each) => each.path === path);
    if (file === undefined || finding.line === null || !linesOf(file, shown).has(finding.line)) {
      elsewhere.push(finding);
      continue;
    }
    const lines = wanted.get(file.path) ?? new Map<number, DiffFinding[]>();
    lines.set(finding.line, [...(lines.get(finding.line) ?? []), finding]);
    wanted.set(file.path, lines);
  }
  return { inLines: wanted, elsewhere };
}

/** The diff's path for an agent's path: equal, with a leading `./`, or absolute in its workspace. */
export function pathOf(named: string, paths: readonly string[]): string | undefined {
  const plain = named.startsWith("./") ? named.slice(2) : named;
  if (paths.includes(plain)) return plain;
  const ending = paths.filter((path) => plain.endsWith(`/${path}`));
  return ending.length === 1 ? ending[0] : undefined;
}

function linesOf(file: FileDiff, known: Map<string, ReadonlySet<number>>): ReadonlySet<number> {
  const lines =
    known.get(file.path) ??
    new Set(file.hunks.flatMap((hunk) => hunk.lines.flatMap((line) => (line.new === null ? [] : [line.new]))));
  known.set(file.path, lines);
  return lines;
}
