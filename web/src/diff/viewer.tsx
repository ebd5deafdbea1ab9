// A diff to read and to comment on. It draws only the rows in view and scrolls with the page, because a scrolling box inside a page traps
// fingers on a phone. Agents wrote the text: it is shown as text, with invisible characters made visible.

import { useWindowVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import { type ReactNode, type RefObject, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useShortcuts } from "../base/keyboard.ts";
import { useTop } from "../ui/use-top.ts";
import { FileList } from "./file-list.tsx";
import { FindingList } from "./finding.tsx";
import { type DiffFinding, pathOf, placeFindings } from "./findings.ts";
import { LayoutChoice } from "./layout-choice.tsx";
import type { FileDiff } from "./parse.ts";
import { type RowActs, RowView } from "./row.tsx";
import { isOpen, type LinePlace, placeKey, type DiffReview, type Row, rowsOf, viewedKey } from "./rows.ts";
import { DEFAULT_SEVERITY } from "./severity.ts";
import { useColours } from "./use-colours.ts";
import { type DiffLayout, useLayout } from "./use-layout.ts";
import { useViewed } from "./viewed.ts";
import { buttonAt, tabStop, walk } from "./walk.ts";

export type DiffViewerProps = {
  readonly files: readonly FileDiff[];
  /** The key under which the browser remembers viewed files. */
  readonly name: string;
  /** Findings of agents; shown below the lines they are about. */
  readonly findings?: readonly DiffFinding[];
  readonly review?: DiffReview;
  /** Absent if the diff takes no comments, such as in a run that has ended. */
  readonly onReview?: (change: Partial<DiffReview>) => void;
};

const NOTHING_SAID: DiffReview = { comments: [], writing: null };
const NO_FINDINGS: readonly DiffFinding[] = [];

/** The line number is a button; smaller ones are hard to press. */
const LINE_PX = 24;

export function DiffViewer({
  files,
  name,
  findings = NO_FINDINGS,
  review = NOTHING_SAID,
  onReview,
}: DiffViewerProps): ReactNode {
  const { comments, writing } = review;
  const [toggled, setToggled] = useState<Readonly<Record<string, boolean>>>({});
  const [viewed, setViewed] = useViewed(name);
  const { layout, isRoomy, choose } = useLayout();
  useLayoutKey(layout, isRoomy, choose);
  const found = useMemo(() => placeFindings(files, findings), [files, findings]);
  const rows = useMemo(
    () => rowsOf(files, { toggled, viewed, comments, writing, layout, found }),
    [files, toggled, viewed, comments, writing, layout, found],
  );
  const list = useRef<HTMLDivElement>(null);
  const top = useTop(list);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: (at) => (rows[at]?.type === "line" || rows[at]?.type === "pair" ? LINE_PX : 44),
    getItemKey: (at) => rows[at]?.key ?? at,
    overscan: 15,
    scrollMargin: top,
  });
  const goTo = (path: string): void => {
    const at = rows.findIndex((row) => row.type === "file" && row.file.path === path);
    if (at !== -1) virtual.scrollToIndex(at, { align: "start" });
  };
  const acts = {
    ...useReviewActs(review, onReview, list),
    toggle: (file: FileDiff) => setToggled({ ...toggled, [file.path]: !isOpen(file, { toggled, viewed }) }),
    look: (file: FileDiff, is: boolean) => {
      setViewed(viewedKey(file), is);
      const { [file.path]: _own, ...others } = toggled;
      setToggled(others);
    },
    viewed,
    found: (file: FileDiff) =>
      [...(found.inLines.get(file.path)?.values() ?? [])].reduce((sum, each) => sum + each.length, 0),
  };
  const paths = files.map(({ path }) => path);
  return (
    <div className="flex flex-col gap-3">
      <FindingList
        findings={found.elsewhere}
        isInDiff={(file) => pathOf(file, paths) !== undefined}
        goTo={(file) => goTo(pathOf(file, paths) ?? file)}
      />
      <div className="flex items-start justify-between gap-3">
        <FileList files={files} isViewed={(file) => viewed.has(viewedKey(file))} goTo={goTo} />
        {isRoomy && <LayoutChoice layout={layout} choose={choose} />}
      </div>
      <DiffRows list={list} rows={rows} virtual={virtual} acts={acts} />
    </div>
  );
}

/** v switches between one column and two. */
function useLayoutKey(layout: DiffLayout, isRoomy: boolean, choose: (layout: DiffLayout) => void): void {
  const keys = useMemo(
    () => [
      {
        keys: "v",
        does: "One column or two",
        group: "Changes",
        act: () => isRoomy && choose(layout === "split" ? "unified" : "split"),
      },
    ],
    [layout, isRoomy, choose],
  );
  useShortcuts(keys);
}

type ReviewActs = Pick<RowActs, "begin" | "writing" | "write" | "say" | "close" | "drop">;

/** A person's actions on comments. */
function useReviewActs(
  { comments, writing }: DiffReview,
  onReview: DiffViewerProps["onReview"],
  list: RefObject<HTMLDivElement | null>,
): ReviewActs {
  // A comment begun on another line is not lost: it is saved, and the person can remove it.
  const beginAt = (place: LinePlace): void => {
    if (writing !== null && placeKey(writing) === placeKey(place)) return;
    const kept = writing === null || writing.text.trim() === "" ? comments : [...comments, writing];
    onReview?.({ comments: kept, writing: { ...place, text: "", severity: DEFAULT_SEVERITY } });
  };
  const latest = useRef(beginAt);
  useEffect(() => {
    latest.current = beginAt;
  });
  const begin = useCallback((place: LinePlace) => latest.current(place), []);
  const end = (change: Partial<DiffReview>): void => {
    onReview?.({ ...change, writing: null });
    if (writing !== null) requestAnimationFrame(() => buttonAt(list.current, writing)?.focus());
  };
  return {
    begin: onReview === undefined ? undefined : begin,
    writing,
    write: (change) => writing !== null && onReview?.({ writing: { ...writing, ...change } }),
    say: () => writing !== null && end({ comments: [...comments, { ...writing, text: writing.text.trim() }] }),
    close: () => end({}),
    drop:
      onReview === undefined
        ? undefined
        : (comment) => onReview({ comments: comments.filter((each) => each !== comment) }),
  };
}

function DiffRows({
  list,
  rows,
  virtual,
  acts,
}: {
  readonly list: RefObject<HTMLDivElement | null>;
  readonly rows: readonly Row[];
  readonly virtual: Virtualizer<Window, Element>;
  readonly acts: Omit<RowActs, "stop" | "setFocused" | "colour">;
}): ReactNode {
  const [focused, setFocused] = useState<string | null>(null);
  const colour = useColours();
  const drawn = virtual.getVirtualItems();
  const stop = tabStop(
    drawn.map(({ index }) => rows[index]),
    focused,
  );
  return (
    <div
      ref={list}
      onKeyDown={walk}
      className="relative overflow-clip rounded-md border border-line bg-panel font-mono text-xs leading-[24px]"
      style={{ height: virtual.getTotalSize() }}
    >
      {drawn.map(({ index, key, start }) => {
        const row = rows[index];
        if (row === undefined) return null;
        return (
          <div
            key={key}
            ref={virtual.measureElement}
            data-index={index}
            className="absolute top-0 left-0 w-full"
            style={{ transform: `translateY(${start - virtual.options.scrollMargin}px)` }}
          >
            <RowView row={row} {...acts} stop={stop} setFocused={setFocused} colour={colour} />
          </div>
        );
      })}
    </div>
  );
}
