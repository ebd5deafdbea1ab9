// A person's comments on lines of a diff: on one line or on several, with the text that they want instead.

import type { FileDiff } from "./parse.ts";
import type { LinePlace } from "./places.ts";
import { DEFAULT_SEVERITY, type Severity, severityOf } from "./severity.ts";

/** `line` is the last line that it is about; the comment is below it. */
export type Comment = LinePlace & {
  readonly from: number;
  readonly text: string;
  readonly severity: Severity;
  /** Takes the place of these lines; null if the comment suggests nothing. */
  readonly suggestion: string | null;
};

/** Saved comments, and the one that the person is writing. The caller of the viewer keeps them. */
export type DiffReview = {
  readonly comments: readonly Comment[];
  readonly writing: Comment | null;
};

export function beginComment(place: LinePlace): Comment {
  return { ...place, from: place.line, text: "", severity: DEFAULT_SEVERITY, suggestion: null };
}

/** Up to another line of the same text; a suggestion that was not touched follows. Any other line begins a new comment. */
export function extendComment(comment: Comment, to: LinePlace): Comment | null {
  if (comment.file !== to.file || comment.side !== to.side) return null;
  return { ...comment, from: Math.min(comment.from, to.line), line: Math.max(comment.line, to.line) };
}

export function isEmpty({ text, suggestion }: Comment): boolean {
  return text.trim() === "" && suggestion === null;
}

export function isAbout(comment: Comment, { file, side, line }: LinePlace): boolean {
  return comment.file === file && comment.side === side && comment.from <= line && line <= comment.line;
}

/** "line 7", "lines 7 to 9", "the removed line 3". */
export function linesText({ side, from, line }: Comment): string {
  const lines = from === line ? `line ${line}` : `lines ${from} to ${line}`;
  return side === "old" ? `the removed ${lines}` : lines;
}

/** The text of the lines as it is now; null if the diff does not show all of them, or they are gone. */
export function textOf(files: readonly FileDiff[], { file, side, from, line }: Comment): string | null {
  if (side === "old") return null;
  const lines = files.find(({ path }) => path === file)?.hunks.flatMap((hunk) => hunk.lines) ?? [];
  const meant = lines.filter((each) => each.new !== null && from <= each.new && each.new <= line);
  return meant.length === line - from + 1 ? meant.map(({ text }) => text).join("\n") : null;
}

/** A comment of an older version of the page has less; what this page did not write counts as none. */
export function readComment(kept: Partial<Comment>): Comment | null {
  const { file, side, line, from = line, text, suggestion = null } = kept;
  if (typeof file !== "string" || typeof line !== "number" || typeof from !== "number" || typeof text !== "string")
    return null;
  const isText = suggestion === null || typeof suggestion === "string";
  const place = { file, side: side === "old" ? "old" : "new", line, from } as const;
  return { ...place, text, severity: severityOf(kept.severity), suggestion: isText ? suggestion : null };
}

/** The issue for the next attempt: a file and the lines of its text, or a sentence about removed lines. */
export function issueOf(comment: Comment): {
  readonly severity: Severity;
  readonly description: string;
  readonly file: string;
  readonly line?: number;
  readonly endLine?: number;
  readonly suggestion?: string;
} {
  const { file, side, from, line, text, severity, suggestion } = comment;
  if (side === "old") return { severity, description: `${text} (about ${linesText(comment)})`, file };
  const description = text.trim() === "" ? "Change it as suggested." : text;
  return {
    severity,
    description,
    file,
    line: from,
    ...(from === line ? {} : { endLine: line }),
    ...(suggestion === null ? {} : { suggestion }),
  };
}
