// The rows of the diff viewer as a flat list (files, hunks, lines, comments, findings), so that it can draw only those in view.

import { type DiffFinding, NOTHING_FOUND, type PlacedFindings } from "./findings.ts";
import { type Pair, pairsOf } from "./pairs.ts";
import type { DiffLine, FileDiff } from "./parse.ts";
import type { Severity } from "./severity.ts";

/** A line of a file: of the new text, or, for a line that is gone, of the old one. */
export type LinePlace = { readonly file: string; readonly side: "new" | "old"; readonly line: number };

export type Comment = LinePlace & { readonly text: string; readonly severity: Severity };

/** Saved comments, and the one that the person is writing. The caller of the viewer keeps them. */
export type DiffReview = {
  readonly comments: readonly Comment[];
  readonly writing: Comment | null;
};

export type Row =
  | { readonly type: "file"; readonly key: string; readonly file: FileDiff; readonly isOpen: boolean }
  | { readonly type: "hidden"; readonly key: string; readonly file: FileDiff; readonly why: string }
  | { readonly type: "hunk"; readonly key: string; readonly head: string }
  | { readonly type: "line"; readonly key: string; readonly file: FileDiff; readonly line: DiffLine }
  | { readonly type: "pair"; readonly key: string; readonly file: FileDiff; readonly pair: Pair }
  | { readonly type: "comment"; readonly key: string; readonly comment: Comment }
  | { readonly type: "finding"; readonly key: string; readonly finding: DiffFinding }
  | { readonly type: "writing"; readonly key: string };

export type Showing = DiffReview & {
  /** Files that a person opened or closed; the others follow their size. */
  readonly toggled: Readonly<Record<string, boolean>>;
  readonly viewed: ReadonlySet<string>;
  /** One column, or before and after side by side. */
  readonly layout?: "unified" | "split";
  readonly found?: PlacedFindings;
};

/** A file with more lines is closed at first. */
export const LARGE_LINES = 800;

export function isOpen(file: FileDiff, { toggled, viewed }: Pick<Showing, "toggled" | "viewed">): boolean {
  return toggled[file.path] ?? (!viewed.has(viewedKey(file)) && linesIn(file) <= LARGE_LINES);
}

/** The mark is part of the key: a file that has changed since does not count as viewed. */
export function viewedKey({ path, mark }: FileDiff): string {
  return `${path}@${mark}`;
}

export function rowsOf(files: readonly FileDiff[], showing: Showing): readonly Row[] {
  const rows: Row[] = [];
  const { layout = "unified", found = NOTHING_FOUND } = showing;
  const said = Map.groupBy(showing.comments, placeKey);
  const writing = showing.writing === null ? null : placeKey(showing.writing);
  /** Adds the rows that belong to a line, after it. */
  const behind = (place: LinePlace): void => {
    const key = placeKey(place);
    const findings = place.side === "new" ? (found.inLines.get(place.file)?.get(place.line) ?? []) : [];
    findings.forEach((finding, index) => rows.push({ type: "finding", key: `i:${key}:${index}`, finding }));
    said.get(key)?.forEach((comment, index) => rows.push({ type: "comment", key: `c:${key}:${index}`, comment }));
    if (key === writing) rows.push({ type: "writing", key: `w:${key}` });
  };
  for (const file of files) {
    const open = isOpen(file, showing);
    rows.push({ type: "file", key: `f:${file.path}`, file, isOpen: open });
    const why = hiddenBecause(file, open);
    if (why !== undefined) {
      rows.push({ type: "hidden", key: `x:${file.path}`, file, why });
      continue;
    }
    if (!open) continue;
    file.hunks.forEach(({ head, lines }, hunk) => {
      rows.push({ type: "hunk", key: `h:${file.path}:${hunk}`, head });
      // A new or deleted file has only one side.
      if (layout === "split" && file.change !== "added" && file.change !== "removed")
        pairsOf(lines).forEach((pair, at) => {
          rows.push({ type: "pair", key: `p:${file.path}:${hunk}:${at}`, file, pair });
          for (const place of placesOf(file, pair)) behind(place);
        });
      else
        lines.forEach((line, at) => {
          rows.push({ type: "line", key: `l:${file.path}:${hunk}:${at}`, file, line });
          const place = placeOf(file, line);
          if (place !== null) behind(place);
        });
    });
  }
  return rows;
}

export function placeKey({ file, side, line }: LinePlace): string {
  return `${side}:${line}:${file}`;
}

/** In the new text if the line is there; one place per line in both layouts. */
export function placeOf({ path }: FileDiff, line: DiffLine): LinePlace | null {
  if (line.new !== null) return { file: path, side: "new", line: line.new };
  return line.old === null ? null : { file: path, side: "old", line: line.old };
}

/** The removed line on the left, and the line on the right. */
export function placesOf(file: FileDiff, { left, right }: Pair): readonly LinePlace[] {
  const removed = left === null || left === right ? null : placeOf(file, left);
  const stays = right === null ? null : placeOf(file, right);
  return [removed, stays].filter((place) => place !== null);
}

function hiddenBecause(file: FileDiff, open: boolean): string | undefined {
  if (file.isBinary) return "Binary file.";
  if (file.hunks.length === 0) return file.change === "mode" ? "Only the file mode changed." : "No lines changed.";
  const lines = linesIn(file);
  return !open && lines > LARGE_LINES ? `${lines.toLocaleString("en-US")} lines.` : undefined;
}

export function linesIn(file: FileDiff): number {
  return file.hunks.reduce((sum, { lines }) => sum + lines.length, 0);
}

/** The issue for the next attempt: a file and a line of its text, or a sentence about a removed line. */
export function issueOf({ file, side, line, text, severity }: Comment): {
  readonly severity: Severity;
  readonly description: string;
  readonly file: string;
  readonly line?: number;
} {
  return side === "new"
    ? { severity, description: text, file, line }
    : { severity, description: `${text} (about the removed line ${line})`, file };
}
