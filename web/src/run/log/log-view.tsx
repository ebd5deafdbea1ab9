// The viewer of a log. It draws only the rows in view, follows a growing log, and jumps to lines that a search or a link names.

import { useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import { useLocation, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { Button } from "../../ui/button.tsx";
import { SafeText } from "../../ui/safe-text.tsx";
import { Empty, Failure, Loading } from "../../ui/states.tsx";
import { piecesOf } from "./ansi.ts";
import { LogSearch } from "./log-search.tsx";
import { type LogReference, type LogSource, openLog } from "./source.ts";
import { ArrowDown } from "lucide-react";

const ROW = 20;
/** Browsers draw nothing beyond about thirty million pixels. */
const ROWS_AT_MOST = 1_500_000;
const NEAR_END = ROW * 2;

export function LogView({
  reference,
  isGrowing,
  tools,
}: {
  readonly reference: LogReference;
  readonly isGrowing: boolean;
  readonly tools: ReactNode;
}): ReactNode {
  const { run, stage, attempt, file } = reference;
  const source = useMemo(() => openLog({ run, stage, attempt, file }), [run, stage, attempt, file]);
  useEffect(() => () => source.close(), [source]);
  useEffect(() => source.setGrowing(isGrowing), [source, isGrowing]);
  const { index, error } = useSyncExternalStore(source.watch, source.state);
  const count = Math.min(index.lines, ROWS_AT_MOST);
  const wanted = useWantedLine();
  const goTo = useGoToLine();
  const isLoading = !index.isEnd && index.parts.length > 0;
  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-end gap-2">
        {tools}
        <LogSearch reference={reference} size={index.size} goTo={goTo} current={wanted} />
      </div>
      {error !== null && <Failure error={error} />}
      {error === null && index.parts.length === 0 && <Loading what={file} />}
      {index.isEnd && count === 0 && <Empty title={isGrowing ? "Nothing written yet." : "This file is empty."} />}
      {index.lines > ROWS_AT_MOST && (
        <p className="text-sm text-muted">
          Only the first {ROWS_AT_MOST.toLocaleString()} lines are shown; the search covers all of them.
        </p>
      )}
      <LogRows
        label={`${file} of ${stage} #${attempt}`}
        source={source}
        count={count}
        wanted={wanted}
        isGrowing={isGrowing}
        goTo={goTo}
        summary={`${count.toLocaleString()} lines · ${bytes(index.size)}${isLoading ? " so far, still loading…" : ""}`}
      />
    </div>
  );
}

type RowsProps = {
  readonly label: string;
  readonly source: LogSource;
  readonly count: number;
  /** The line that the address names. */
  readonly wanted: number | null;
  readonly isGrowing: boolean;
  readonly goTo: (line: number) => void;
  readonly summary: string;
};

function LogRows({ label, source, count, wanted, isGrowing, goTo, summary }: RowsProps): ReactNode {
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 12,
  });
  const { follows, setFollows, fresh, onScroll } = useFollow(rows, { count, wanted, isGrowing });
  return (
    <>
      <div className={`relative ${count === 0 ? "hidden" : ""}`}>
        <div
          ref={scroller}
          role="log"
          aria-live="off"
          aria-label={label}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reachable by keyboard.
          tabIndex={0}
          onScroll={({ currentTarget }) => onScroll(currentTarget)}
          className="h-[62dvh] overflow-auto rounded-md border border-line bg-panel font-mono text-xs"
        >
          <div className="relative w-full" style={{ height: rows.getTotalSize() }}>
            {rows.getVirtualItems().map(({ index: at, start }) => (
              <div
                key={at}
                style={{ height: ROW, lineHeight: `${ROW}px`, transform: `translateY(${start}px)` }}
                className={`absolute top-0 left-0 flex w-max min-w-full whitespace-pre ${wanted === at + 1 ? "bg-warning-soft" : "bg-panel"}`}
              >
                <LineNumber line={at + 1} goTo={goTo} />
                <span className="px-2">
                  <Line text={source.line(at)} />
                </span>
              </div>
            ))}
          </div>
        </div>
        {!follows && isGrowing && (
          <div className="absolute inset-x-0 bottom-3 flex justify-center">
            <Button look="primary" onClick={() => setFollows(true)}>
              <ArrowDown className="size-4" /> Jump to latest{fresh > 0 ? ` · ${fresh.toLocaleString()} new` : ""}
            </Button>
          </div>
        )}
      </div>
      <p className="text-xs text-muted tabular">
        {summary}
        {isGrowing && (follows ? " · following" : " · still growing")}
      </p>
    </>
  );
}

/** Keeps the end in view while the log grows, until a person scrolls up or opens a line. */
function useFollow(
  rows: Virtualizer<HTMLDivElement, Element>,
  { count, wanted, isGrowing }: Pick<RowsProps, "count" | "wanted" | "isGrowing">,
) {
  const [follows, setFollows] = useState(isGrowing && wanted === null);
  const [seen, setSeen] = useState(0);
  useEffect(() => {
    if (!follows || count === 0) return;
    rows.scrollToIndex(count - 1, { align: "end" });
    setSeen(count);
  }, [follows, count, rows]);

  // Scrolls once the log has loaded the line that the address names.
  const shownWanted = useRef<number | null>(null);
  useEffect(() => {
    if (wanted === null || wanted > count || shownWanted.current === wanted) return;
    shownWanted.current = wanted;
    setFollows(false);
    rows.scrollToIndex(wanted - 1, { align: "center" });
  }, [wanted, count, rows]);

  const onScroll = (box: HTMLElement): void => {
    const isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_END;
    if (isAtEnd) setSeen(count);
    else if (follows && box.scrollTop < lastTop(box)) setFollows(false);
    box.dataset["top"] = String(box.scrollTop);
    if (isAtEnd && isGrowing && !follows && wanted === null) setFollows(true);
  };
  return { follows, setFollows, fresh: Math.max(0, count - seen), onScroll };
}

function LineNumber({ line, goTo }: { readonly line: number; readonly goTo: (line: number) => void }): ReactNode {
  return (
    <a
      href={`#L${line}`}
      aria-label={`Line ${line}`}
      tabIndex={-1}
      onClick={(event) => {
        event.preventDefault();
        goTo(line);
      }}
      className="sticky left-0 w-16 shrink-0 border-r border-line bg-inherit pr-2 text-right text-muted no-underline select-none hover:underline"
    >
      {line}
    </a>
  );
}

/** Puts the line into the address. */
function useGoToLine(): (line: number) => void {
  const navigate = useNavigate();
  return (line) =>
    void navigate({
      to: ".",
      search: (old) => old,
      hash: `L${line}`,
      replace: true,
      resetScroll: false,
      hashScrollIntoView: false,
    });
}

/** The scroll position before: only scrolling up stops following. */
function lastTop(box: HTMLElement): number {
  return Number(box.dataset["top"] ?? 0);
}

function Line({ text }: { readonly text: string | undefined }): ReactNode {
  if (text === undefined) return <span className="text-muted">…</span>;
  return piecesOf(text).map(({ text: piece, className }, at) => (
    <span key={at} className={className}>
      <SafeText>{piece}</SafeText>
    </span>
  ));
}

function useWantedLine(): number | null {
  const hash = useLocation({ select: ({ hash: now }) => now });
  const found = /^L([1-9][0-9]{0,8})$/.exec(hash);
  return found === null ? null : Number(found[1]);
}

function bytes(size: number): string {
  if (size < 1024) return `${size} B`;
  return size < 1024 * 1024 ? `${Math.round(size / 1024)} KB` : `${(size / 1024 / 1024).toFixed(1)} MB`;
}
