// The places of a diff that people can comment on: one per line in both layouts.

import type { Pair } from "./pairs.ts";
import type { DiffLine, FileDiff } from "./parse.ts";

/** A line of a file: of the new text, or, for a line that is gone, of the old one. */
export type LinePlace = { readonly file: string; readonly side: "new" | "old"; readonly line: number };

export function placeKey({ file, side, line }: LinePlace): string {
  return `${side}:${line}:${file}`;
}

/** In the new text if the line is there. */
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
