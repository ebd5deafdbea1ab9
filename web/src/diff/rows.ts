// What a viewer shows one below the other: heads of files, hunks, lines, comments. A flat list, so that only what is on the screen is drawn.

import type { DiffLine, FileDiff } from "./parse.ts";

/** A line of a file: of the new text, or, for a line that is gone, of the old one. */
export type Place = { readonly file: string; readonly side: "new" | "old"; readonly line: number };

export type Comment = Place & { readonly text: string };

/** What somebody says about a diff: comments, and one that is still being written. It is kept by whoever shows the diff. */
export type Review = {
  readonly comments: readonly Comment[];
  readonly writing: Comment | null;
};

export type Row =
  | { readonly type: "file"; readonly key: string; readonly file: FileDiff; readonly isOpen: boolean }
  | { readonly type: "hidden"; readonly key: string; readonly file: FileDiff; readonly why: string }
  | { readonly type: "hunk"; readonly key: string; readonly head: string }
  | { readonly type: "line"; readonly key: string; readonly line: DiffLine; readonly place: Place | null }
  | { readonly type: "comment"; readonly key: string; readonly comment: Comment }
  | { readonly type: "writing"; readonly key: string };

export type Showing = Review & {
  /** What a person opened or closed; the rest is as it suits the file. */
  readonly toggled: Readonly<Record<string, boolean>>;
  readonly viewed: ReadonlySet<string>;
};

/** A file with more lines is closed at first. */
export const LARGE_LINES = 800;

export function isOpen(file: FileDiff, { toggled, viewed }: Pick<Showing, "toggled" | "viewed">): boolean {
  return toggled[file.path] ?? (!viewed.has(viewedKey(file)) && linesIn(file) <= LARGE_LINES);
}

/** The mark belongs to it: a file that has changed since was not looked at. */
export function viewedKey({ path, mark }: FileDiff): string {
  return `${path}@${mark}`;
}

export function rowsOf(files: readonly FileDiff[], showing: Showing): readonly Row[] {
  const rows: Row[] = [];
  const said = new Map<string, Comment[]>();
  for (const comment of showing.comments) {
    const key = placeKey(comment);
    said.set(key, [...(said.get(key) ?? []), comment]);
  }
  const writing = showing.writing === null ? null : placeKey(showing.writing);
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
      lines.forEach((line, at) => {
        const place = placeOf(file, line);
        rows.push({ type: "line", key: `l:${file.path}:${hunk}:${at}`, line, place });
        if (place === null) return;
        const key = placeKey(place);
        (said.get(key) ?? []).forEach((comment, index) =>
          rows.push({ type: "comment", key: `c:${key}:${index}`, comment }),
        );
        if (key === writing) rows.push({ type: "writing", key: `w:${key}` });
      });
    });
  }
  return rows;
}

export function placeKey({ file, side, line }: Place): string {
  return `${side}:${line}:${file}`;
}

function placeOf(file: FileDiff, line: DiffLine): Place | null {
  if (line.new !== null) return { file: file.path, side: "new", line: line.new };
  return line.old === null ? null : { file: file.path, side: "old", line: line.old };
}

function hiddenBecause(file: FileDiff, open: boolean): string | undefined {
  if (file.isBinary) return "A binary file.";
  if (file.hunks.length === 0) return file.change === "mode" ? "Only its mode has changed." : "No lines have changed.";
  const lines = linesIn(file);
  return !open && lines > LARGE_LINES ? `${lines.toLocaleString("en-US")} lines.` : undefined;
}

function linesIn(file: FileDiff): number {
  return file.hunks.reduce((sum, { lines }) => sum + lines.length, 0);
}

/** What the next attempt is told: a file and a line of its text, or words about a line that is gone. */
export function issueOf({ file, side, line, text }: Comment): {
  readonly description: string;
  readonly file: string;
  readonly line?: number;
} {
  return side === "new"
    ? { description: text, file, line }
    : { description: `${text} (about the removed line ${line})`, file };
}
