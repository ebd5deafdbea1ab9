// A diff to read and to comment on. Only what is on the screen is drawn, and it scrolls with the page: a list inside of a list is a trap on a
// phone. The text is an agent's: it is shown as text, with what the eye cannot see made visible.

import { useWindowVirtualizer } from "@tanstack/react-virtual";
import {
  type KeyboardEvent,
  memo,
  type ReactNode,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from "react";
import { Button } from "../ui/button.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { CommentCard, CommentForm } from "./comment.tsx";
import { FileHead } from "./file-head.tsx";
import { FileList } from "./file-list.tsx";
import type { DiffLine, FileDiff } from "./parse.ts";
import { type Comment, isOpen, type Place, placeKey, type Review, type Row, rowsOf, viewedKey } from "./rows.ts";
import { useViewed } from "./viewed.ts";

export type DiffViewerProps = {
  readonly files: readonly FileDiff[];
  /** What was looked at is kept under this name. */
  readonly name: string;
  readonly review?: Review;
  /** Absent where nothing can be said, such as in a run that has ended. */
  readonly onReview?: (change: Partial<Review>) => void;
};

const NOTHING_SAID: Review = { comments: [], writing: null };

/** A line's number is pressed to comment on it, and less than this is too small to press. */
const LINE_PX = 24;

export function DiffViewer({ files, name, review = NOTHING_SAID, onReview }: DiffViewerProps): ReactNode {
  const { comments, writing } = review;
  const [toggled, setToggled] = useState<Readonly<Record<string, boolean>>>({});
  const [focused, setFocused] = useState<string | null>(null);
  const [viewed, setViewed] = useViewed(name);
  const rows = useMemo(
    () => rowsOf(files, { toggled, viewed, comments, writing }),
    [files, toggled, viewed, comments, writing],
  );
  const list = useRef<HTMLDivElement>(null);
  const top = useTop(list);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: (at) => (rows[at]?.type === "line" ? LINE_PX : 44),
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
  const beginAt = (place: Place): void => {
    if (writing !== null && placeKey(writing) === placeKey(place)) return;
    const kept = writing === null || writing.text.trim() === "" ? comments : [...comments, writing];
    onReview?.({ comments: kept, writing: { ...place, text: "" } });
  };
  const latest = useRef(beginAt);
  useEffect(() => {
    latest.current = beginAt;
  });
  const begin = useCallback((place: Place) => latest.current(place), []);
  const end = (change: Partial<Review>): void => {
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
    write: (text) => writing !== null && onReview?.({ writing: { ...writing, text } }),
    say: (text) => writing !== null && end({ comments: [...comments, { ...writing, text }] }),
    close: () => end({}),
    drop:
      onReview === undefined
        ? undefined
        : (comment) => onReview({ comments: comments.filter((each) => each !== comment) }),
  };

  const drawn = virtual.getVirtualItems();
  const stop = tabStop(
    drawn.map(({ index }) => rows[index]),
    focused,
  );

  return (
    <div className="flex flex-col gap-3">
      <FileList files={files} isViewed={(file) => viewed.has(viewedKey(file))} goTo={goTo} />
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

type RowActs = {
  readonly toggle: (file: FileDiff) => void;
  readonly look: (file: FileDiff, is: boolean) => void;
  readonly viewed: ReadonlySet<string>;
  /** The one line that is reached by Tab; arrows lead to the others. */
  readonly stop: string | null;
  readonly setFocused: (place: string) => void;
  readonly writing: Comment | null;
  readonly begin: ((place: Place) => void) | undefined;
  readonly write: (text: string) => void;
  readonly say: (text: string) => void;
  readonly close: () => void;
  readonly drop: ((comment: Comment) => void) | undefined;
};

function RowView({ row, ...acts }: { readonly row: Row } & RowActs): ReactNode {
  switch (row.type) {
    case "file":
      return (
        <FileHead
          file={row.file}
          isOpen={row.isOpen}
          isViewed={acts.viewed.has(viewedKey(row.file))}
          toggle={() => acts.toggle(row.file)}
          look={(is) => acts.look(row.file, is)}
        />
      );
    case "hidden":
      return (
        <p className="flex items-center gap-3 px-4 py-1.5 font-sans text-muted">
          {row.why}
          {row.file.hunks.length > 0 && <Button onClick={() => acts.toggle(row.file)}>Show them</Button>}
        </p>
      );
    case "hunk":
      return (
        <p className="truncate bg-active-soft px-4 py-0.5 text-active">
          <span aria-hidden="true">⋯ </span>
          <SafeText max={300}>{row.head}</SafeText>
        </p>
      );
    case "line": {
      const isStop = row.place !== null && placeKey(row.place) === acts.stop;
      return (
        <LineView line={row.line} place={row.place} begin={acts.begin} isStop={isStop} setFocused={acts.setFocused} />
      );
    }
    case "comment": {
      const { drop } = acts;
      return <CommentCard comment={row.comment} {...(drop === undefined ? {} : { drop: () => drop(row.comment) })} />;
    }
    case "writing":
      return acts.writing === null ? null : <CommentForm {...acts} writing={acts.writing} />;
  }
}

const LOOKS = { same: "", added: "bg-good-soft", removed: "bg-bad-soft", note: "text-muted italic" } as const;
const SIGNS = { same: " ", added: "+", removed: "−", note: " " } as const;

/** Scrolling draws the list anew many times a second; a line that is the same is left alone. */
const LineView = memo(function LineView({
  line,
  place,
  begin,
  isStop,
  setFocused,
}: Pick<RowActs, "begin" | "setFocused"> & {
  readonly line: DiffLine;
  readonly place: Place | null;
  readonly isStop: boolean;
}): ReactNode {
  const number = line.new ?? line.old ?? "";
  return (
    <div className={`flex ${LOOKS[line.kind]}`}>
      {place === null || begin === undefined ? (
        <span className="w-12 shrink-0 pr-2 text-right text-muted select-none">{number}</span>
      ) : (
        <button
          type="button"
          data-place={placeKey(place)}
          tabIndex={isStop ? 0 : -1}
          onFocus={() => setFocused(placeKey(place))}
          aria-label={`Comment on ${place.side === "old" ? "removed " : ""}line ${place.line} of ${place.file}`}
          onClick={() => begin(place)}
          className="w-12 shrink-0 cursor-pointer pr-2 text-right text-muted select-none hover:bg-active hover:text-panel"
        >
          {number}
        </button>
      )}
      <span aria-hidden="true" className="w-4 shrink-0 select-none">
        {SIGNS[line.kind]}
      </span>
      {line.kind === "added" && <ins className="sr-only">added</ins>}
      {line.kind === "removed" && <del className="sr-only">removed</del>}
      <code className="min-w-0 flex-1 pr-3 break-words whitespace-pre-wrap [overflow-wrap:anywhere]">
        <SafeText max={4000}>{line.text}</SafeText>
      </code>
    </div>
  );
});

function tabStop(drawn: readonly (Row | undefined)[], focused: string | null): string | null {
  const places = drawn.flatMap((row) => (row?.type === "line" && row.place !== null ? [placeKey(row.place)] : []));
  return focused !== null && places.includes(focused) ? focused : (places[0] ?? null);
}

/** Up and down go from line to line; the page follows the focus. */
function walk(event: KeyboardEvent<HTMLDivElement>): void {
  if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
  if (!(event.target instanceof HTMLButtonElement) || event.target.dataset["place"] === undefined) return;
  const buttons = [...event.currentTarget.querySelectorAll<HTMLButtonElement>("button[data-place]")];
  const inOrder = buttons.toSorted((a, b) => a.getBoundingClientRect().top - b.getBoundingClientRect().top);
  const at = inOrder.indexOf(event.target);
  const next = inOrder[event.key === "ArrowDown" ? at + 1 : at - 1];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}

function buttonAt(list: HTMLElement | null, place: Place): HTMLElement | null {
  return list?.querySelector<HTMLElement>(`[data-place="${CSS.escape(placeKey(place))}"]`) ?? null;
}

/** Where the list begins on the page; what stands above it may grow. */
function useTop(list: { readonly current: HTMLElement | null }): number {
  const [top, setTop] = useState(0);
  useLayoutEffect(() => {
    const measure = (): void => {
      const box = list.current?.getBoundingClientRect();
      if (box !== undefined) setTop(Math.round(box.top + scrollY));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(document.body);
    return () => observer.disconnect();
  }, [list]);
  return top;
}
