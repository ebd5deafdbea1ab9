// The changes and checks of a run, in a few lines: for a person who decides about the work or has just got it.

import { type EvidenceLine, evidenceTable } from "./evidence-table.ts";

type ChangedFiles = {
  readonly files: readonly {
    readonly path: string;
    readonly added: number;
    readonly removed: number;
    readonly isBinary: boolean;
  }[];
  readonly added: number;
  readonly removed: number;
  readonly isCut: boolean;
};

const FILES_AT_MOST = 10;
const CHECKS_AT_MOST = 10;

export function changeLines({ files, added, removed, isCut }: ChangedFiles): readonly string[] {
  const shown = files.slice(0, FILES_AT_MOST);
  const wide = Math.max(0, ...shown.map(({ path }) => Math.min(path.length, 60)));
  const left = files.length - shown.length;
  return [
    `${files.length} ${files.length === 1 ? "file" : "files"} changed, +${added} -${removed}${isCut ? " or more" : ""}`,
    ...shown.map(
      (file) => `  ${file.path.padEnd(wide)}  ${file.isBinary ? "binary" : `+${file.added} -${file.removed}`}`,
    ),
    ...(left > 0 ? [`  and ${left} more`] : []),
  ];
}

/** The checks that Passrail ran itself, or that there are none; reports of agents are elsewhere. */
export function checkSummary(attempts: Parameters<typeof evidenceTable>[0]): readonly string[] {
  const lines = evidenceTable(attempts).filter(({ state }) => state !== "reported");
  const shown = lines.slice(0, CHECKS_AT_MOST).map(checkText);
  return lines.length > shown.length ? [...shown, `and ${lines.length - shown.length} more checks`] : shown;
}

function checkText({ what, isGood, evidence }: EvidenceLine): string {
  return `${isGood === null ? "" : isGood ? "✓ " : "✗ "}${what}: ${evidence}`;
}
