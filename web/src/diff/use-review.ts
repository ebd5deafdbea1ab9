// A person's acts on the comments of a diff.

import { type RefObject, useCallback, useEffect, useRef } from "react";
import { beginComment, type Comment, type DiffReview, extendComment, isEmpty } from "./comments.ts";
import { type LinePlace, placeKey } from "./places.ts";
import type { RowActs } from "./row.tsx";
import { buttonAt } from "./walk.ts";

export type OnReview = (change: Partial<DiffReview>) => void;

type ReviewActs = Pick<RowActs, "begin" | "writing" | "write" | "say" | "close" | "edit" | "drop">;

export function useReview(
  { comments, writing }: DiffReview,
  onReview: OnReview | undefined,
  list: RefObject<HTMLDivElement | null>,
): ReviewActs {
  /** A comment begun on another line is not lost: it is saved, and the person can change or remove it. */
  const kept = (): readonly Comment[] => (writing === null || isEmpty(writing) ? comments : [...comments, writing]);
  const beginAt = (place: LinePlace, extend: boolean): void => {
    const longer = extend && writing !== null ? extendComment(writing, place) : null;
    if (longer !== null) return onReview?.({ writing: longer });
    if (writing !== null && placeKey(writing) === placeKey(place)) return;
    onReview?.({ comments: kept(), writing: beginComment(place) });
  };
  const latest = useRef(beginAt);
  useEffect(() => {
    latest.current = beginAt;
  });
  const begin = useCallback((place: LinePlace, extend: boolean) => latest.current(place, extend), []);
  const end = (change: Partial<DiffReview>): void => {
    onReview?.({ ...change, writing: null });
    if (writing !== null) requestAnimationFrame(() => buttonAt(list.current, writing)?.focus());
  };
  const acts = {
    writing,
    write: (change: Partial<Comment>) => writing !== null && onReview?.({ writing: { ...writing, ...change } }),
    say: () => writing !== null && end({ comments: [...comments, { ...writing, text: writing.text.trim() }] }),
    close: () => end({}),
  };
  if (onReview === undefined) return { ...acts, begin: undefined, edit: undefined, drop: undefined };
  return {
    ...acts,
    begin,
    edit: (comment) => onReview({ comments: kept().filter((each) => each !== comment), writing: comment }),
    drop: (comment) => onReview({ comments: comments.filter((each) => each !== comment) }),
  };
}
