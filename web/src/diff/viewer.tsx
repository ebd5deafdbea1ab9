// A diff to read and to comment on. Only what is on the screen is drawn, and it scrolls with the page: a list inside of a list is a trap on a
// phone. The text is an agent's: it is shown as text, with what the eye cannot see made visible.

import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useShortcuts } from "../base/keyboard.ts";
import { useTop } from "../ui/use-top.ts";
import { FileList } from "./file-list.tsx";
import { FindingList } from "./finding.tsx";
import { type Finding, pathOf, placeFindings } from "./findings.ts";
import { LayoutChoice } from "./layout-choice.tsx";
import type { FileDiff } from "./parse.ts";
import { type RowActs, RowView } from "./row.tsx";
import { isOpen, type LinePlace, placeKey, type DiffReview, rowsOf, viewedKey } from "./rows.ts";
import { DEFAULT_SEVERITY } from "./severity.ts";
import { useColours } from "./use-colours.ts";
import { useLayout } from "./use-layout.ts";
import { useViewed } from "./viewed.ts";
import { buttonAt, tabStop, walk } from "./walk.ts";

export type DiffViewerProps = {
  readonly files: readonly FileDiff[];
  /** What was looked at is kept under this name. */
  readonly name: string;
  /** What agents found; shown beside the lines it is about. */
  readonly findings?: readonly Finding[];
  readonly review?: DiffReview;
  /** Absent where nothing can be said, such as in a run that has ended. */
  readonly onReview?: (change: Partial<DiffReview>) => void;
};

const NOTHING_SAID: DiffReview = { comments: [], writing: null };
const NO_FINDINGS: readonly Finding[] = [];

/** A line's number is pressed to comment on it, and less than this is too small to press. */
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
  const [focused, setFocused] = useState<string | null>(null);
  const [viewed, setViewed] = useViewed(name);
  const { layout, isRoomy, choose } = useLayout();
  const colour = useColours();
  const found = useMemo(() => placeFindings(files, findings), [files, findings]);
  const rows = useMemo(
    () => rowsOf(files, { toggled, viewed, comments, writing, layout, found }),
    [files, toggled, viewed, comments, writing, layout, found],
  );
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
  const toggle = (file: FileDiff): void => setToggled({ ...toggled, [file.path]: !isOpen(file, { toggled, viewed }) });
  const look = (file: FileDiff, is: boolean): void => {
    setViewed(viewedKey(file), is);
    const { [file.path]: _own, ...others } = toggled;
    setToggled(others);
  };
  // Words that were begun elsewhere are not thrown away: they become a comment, which can be removed.
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
  const acts: Omit<RowActs, "stop"> = {
    toggle,
    look,
    viewed,
    setFocused,
    begin: onReview === undefined ? undefined : begin,
    writing,
    colour,
    found: (file) => [...(found.inLines.get(file.path)?.values() ?? [])].reduce((sum, list) => sum + list.length, 0),
    write: (change) => writing !== null && onReview?.({ writing: { ...writing, ...change } }),
    say: () => writing !== null && end({ comments: [...comments, { ...writing, text: writing.text.trim() }] }),
    close: () => end({}),
    drop:
      onReview === undefined
        ? undefined
        : (comment) => onReview({ comments: comments.filter((each) => each !== comment) }),
  };

  const paths = files.map(({ path }) => path);
  const drawn = virtual.getVirtualItems();
  const stop = tabStop(
    drawn.map(({ index }) => rows[index]),
    focused,
  );

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
              style={{ transform: `translateY(${start - top}px)` }}
            >
              <RowView row={row} {...acts} stop={stop} />
            </div>
          );
        })}
      </div>
    </div>
  );
}
