// The rows of the diff viewer as a flat list (files, hunks, lines, comments, findings), so that it can draw only those in view.

import type { Comment, DiffReview } from "./comments.ts";
import { type DiffFinding, NOTHING_FOUND, type PlacedFindings } from "./findings.ts";
import { type Pair, pairsOf } from "./pairs.ts";
import type { DiffLine, FileDiff } from "./parse.ts";
import { type LinePlace, placeKey, placeOf, placesOf } from "./places.ts";

export type Row =
  | { readonly type: "file"; readonly key: string; readonly file: FileDiff; readonly isOpen: boolean }
  | { readonly type: "hidden"; readonly key: string; readonly file: FileDiff; readonly why: string }
  /** The lines that the diff leaves out above a hunk, or below the last one; null if their number is unknown. */
  | {
      readonly type: "gap";
      readonly key: string;
      readonly file: FileDiff;
      readonly gap: number;
      readonly hidden: number | null;
      readonly head: string;
    }
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
  /** Whether more lines of a file can be read. */
  readonly canOpen?: boolean;
};

/** A file with more lines is closed at first. */
export const LARGE_LINES = 800;

export function isOpen(file: FileDiff, { toggled, viewed }: Pick<Showing, "toggled" | "viewed">): boolean {
  return toggled[file.path] ?? (!viewed.has(viewedKey(file)) && linesIn(file) <= LARGE_LINES && !isGone(file));
}

/** All lines of a removed file are not worth reading. */
function isGone({ change }: FileDiff): boolean {
  return change === "removed";
}

/** The version is part of the key: a file that has changed since does not count as viewed. */
export function viewedKey({ path, version }: Pick<FileDiff, "path" | "version">): string {
  return `${version} ${path}`;
}

export function rowsOf(files: readonly FileDiff[], showing: Showing): readonly Row[] {
  const rows: Row[] = [];
  const behind = rowsBehind(showing);
  for (const file of files) {
    const open = isOpen(file, showing);
    rows.push({ type: "file", key: `f:${file.path}`, file, isOpen: open });
    const why = hiddenBecause(file, open);
    if (why !== undefined) rows.push({ type: "hidden", key: `x:${file.path}`, file, why });
    else if (open) addLines(rows, file, showing, behind);
  }
  return rows;
}

type Behind = (place: LinePlace) => readonly Row[];

function addLines(rows: Row[], file: FileDiff, { layout = "unified", canOpen = false }: Showing, behind: Behind): void {
  const { path, hunks, below } = file;
  for (const { head, gap, hidden, lines } of hunks) {
    if (hidden > 0) rows.push({ type: "gap", key: `h:${path}:${gap}`, file, gap, hidden, head });
    // A new or deleted file has only one side.
    if (layout === "split" && file.change !== "added" && file.change !== "removed")
      for (const pair of pairsOf(lines)) {
        rows.push({ type: "pair", key: `p:${path}:${keyOf(pair.left)}:${keyOf(pair.right)}`, file, pair });
        for (const place of placesOf(file, pair)) rows.push(...behind(place));
      }
    else
      lines.forEach((line, at) => {
        // A note has no number of its own.
        rows.push({ type: "line", key: `l:${path}:${keyOf(line)}${line.kind === "note" ? at : ""}`, file, line });
        const place = placeOf(file, line);
        if (place !== null) rows.push(...behind(place));
      });
  }
  if (canOpen && below !== 0)
    rows.push({ type: "gap", key: `h:${path}:end`, file, gap: file.gaps, hidden: below, head: "" });
}

function keyOf(line: DiffLine | null): string {
  return line === null ? "-" : `${line.old ?? ""}.${line.new ?? ""}`;
}

/** The rows that belong to a line, after it. */
function rowsBehind({ comments, writing, found = NOTHING_FOUND }: Showing): Behind {
  const said = Map.groupBy(comments, placeKey);
  const begun = writing === null ? null : placeKey(writing);
  return (place) => {
    const key = placeKey(place);
    const findings = place.side === "new" ? (found.inLines.get(place.file)?.get(place.line) ?? []) : [];
    return [
      ...findings.map((finding, index): Row => ({ type: "finding", key: `i:${key}:${index}`, finding })),
      ...(said.get(key) ?? []).map((comment, index): Row => ({ type: "comment", key: `c:${key}:${index}`, comment })),
      ...(key === begun ? [{ type: "writing", key: `w:${key}` } as const] : []),
    ];
  };
}

function hiddenBecause(file: FileDiff, open: boolean): string | undefined {
  if (file.isBinary) return "Binary file.";
  if (file.hunks.length === 0) return file.change === "mode" ? "Only the file mode changed." : "No lines changed.";
  const lines = linesIn(file);
  if (open) return undefined;
  if (isGone(file)) return `The file was removed, with ${lines.toLocaleString("en-US")} lines.`;
  return lines > LARGE_LINES ? `${lines.toLocaleString("en-US")} lines.` : undefined;
}

export function linesIn(file: FileDiff): number {
  return file.hunks.reduce((sum, { lines }) => sum + lines.length, 0);
}
