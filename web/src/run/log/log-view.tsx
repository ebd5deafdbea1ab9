// A log: rows of one height, of which only those in sight exist; follows while it grows, jumps to lines that were searched for or linked to.

import { useVirtualizer } from "@tanstack/react-virtual";
import { useLocation, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useEffect, useMemo, useRef, useState, useSyncExternalStore } from "react";
import { Button } from "../../ui/button.tsx";
import { SafeText } from "../../ui/safe-text.tsx";
import { Empty, Failure, Loading } from "../../ui/states.tsx";
import { piecesOf } from "./ansi.ts";
import { LogSearch } from "./log-search.tsx";
import { type LogReference, openLog } from "./source.ts";

const ROW = 20;
/** Browsers draw nothing beyond some thirty million pixels. */
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
  const scroller = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW,
    overscan: 12,
  });

  const [follows, setFollows] = useState(isGrowing && wanted === null);
  const [seen, setSeen] = useState(0);
  useEffect(() => {
    if (!follows || count === 0) return;
    rows.scrollToIndex(count - 1, { align: "end" });
    setSeen(count);
  }, [follows, count, rows]);

  // Once the line that the address names has been read.
  const shownWanted = useRef<number | null>(null);
  useEffect(() => {
    if (wanted === null || wanted > count || shownWanted.current === wanted) return;
    shownWanted.current = wanted;
    setFollows(false);
    rows.scrollToIndex(wanted - 1, { align: "center" });
  }, [wanted, count, rows]);

  const navigate = useNavigate();
  const goTo = (line: number): void => {
    shownWanted.current = null;
    void navigate({
      to: ".",
      search: (old) => old,
      hash: `L${line}`,
      replace: true,
      resetScroll: false,
      hashScrollIntoView: false,
    });
  };
  const isNew = !follows && isGrowing && count > seen;

  return (
    <div className="flex flex-col gap-2">
      <div className="flex flex-wrap items-end gap-2">
        {tools}
        <LogSearch reference={reference} size={index.size} goTo={goTo} current={wanted} />
      </div>
      {error !== null && <Failure error={error} />}
      {error === null && index.parts.length === 0 && <Loading what={file} />}
      {index.isEnd && count === 0 && (
        <Empty title={isGrowing ? "Nothing was written yet." : "Nothing was written to it."} />
      )}
      {index.lines > ROWS_AT_MOST && (
        <p className="text-sm text-muted">
          Only the first {ROWS_AT_MOST.toLocaleString()} lines are shown; search finds all.
        </p>
      )}
      <div className={`relative ${count === 0 ? "hidden" : ""}`}>
        <div
          ref={scroller}
          role="log"
          aria-live="off"
          aria-label={`${file} of ${stage} #${attempt}`}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard.
          tabIndex={0}
          onScroll={({ currentTarget: box }) => {
            const isAtEnd = box.scrollHeight - box.scrollTop - box.clientHeight < NEAR_END;
            if (isAtEnd) setSeen(count);
            else if (follows && box.scrollTop < lastTop(box)) setFollows(false);
            box.dataset["top"] = String(box.scrollTop);
            if (isAtEnd && isGrowing && !follows && wanted === null) setFollows(true);
          }}
          className="h-[62dvh] overflow-auto rounded-md border border-line bg-panel font-mono text-xs"
        >
          <div className="relative w-full" style={{ height: rows.getTotalSize() }}>
            {rows.getVirtualItems().map(({ index: at, start }) => (
              <div
                key={at}
                style={{ height: ROW, lineHeight: `${ROW}px`, transform: `translateY(${start}px)` }}
                className={`absolute top-0 left-0 flex w-max min-w-full whitespace-pre ${wanted === at + 1 ? "bg-warning-soft" : "bg-panel"}`}
              >
                <a
                  href={`#L${at + 1}`}
                  aria-label={`Line ${at + 1}`}
                  tabIndex={-1}
                  onClick={(event) => {
                    event.preventDefault();
                    goTo(at + 1);
                  }}
                  className="sticky left-0 w-16 shrink-0 border-r border-line bg-inherit pr-2 text-right text-muted no-underline select-none hover:underline"
                >
                  {at + 1}
                </a>
                <span className="px-2">
                  <Line text={source.line(at)} />
                </span>
              </div>
            ))}
          </div>
        </div>
        {(isNew || (!follows && isGrowing)) && (
          <div className="absolute inset-x-0 bottom-3 flex justify-center">
            <Button look="primary" onClick={() => setFollows(true)}>
              ▼ Jump to latest{isNew ? ` · ${(count - seen).toLocaleString()} new` : ""}
            </Button>
          </div>
        )}
      </div>
      <p className="text-xs text-muted tabular">
        {count.toLocaleString()} lines · {bytes(index.size)}
        {!index.isEnd && index.parts.length > 0 && " so far, reading on…"}
        {isGrowing && (follows ? " · following" : " · still growing")}
      </p>
    </div>
  );
}

/** Where it was scrolled to before: going down by itself is no wish to stop following. */
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
