// The timeline of a run as bars. Each row links to the attempt's log.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useMemo, useRef, useState } from "react";
import { AttemptLink } from "../ui/attempt-link.tsx";
import { Empty, Failure } from "../ui/states.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { duration, useNow } from "../ui/time.tsx";
import { useTop } from "../ui/use-top.ts";
import { VirtualList } from "../ui/virtual-list.tsx";
import { eventsQuery } from "./run-events.ts";
import { layoutTimeline, type Segment, type SegmentKind, type TimelineRow } from "./timeline.ts";
import type { RunDetail } from "./types.ts";
import { waitsOf } from "./waits.ts";
import { tip } from "../ui/tip.ts";

const LOOKS: Readonly<Record<SegmentKind, { readonly name: string; readonly bar: string }>> = {
  queued: { name: "Queued", bar: "top-3 h-1 bg-quiet opacity-70" },
  working: { name: "Agent working", bar: "top-1.5 h-4 rounded-sm bg-active" },
  waiting: { name: "Waiting for you", bar: "hatched top-1.5 h-4 rounded-sm border border-attention" },
};

export function TimelineTab({ run }: { readonly run: RunDetail }): ReactNode {
  const [fold, setFold] = useState(true);
  const isLive = run.status === "running" || run.status === "waiting";
  const now = useNow(isLive ? 1000 : 3_600_000);
  const { data, error, refetch } = useQuery(eventsQuery(run.id));
  const attempts = useMemo(() => run.stages.flatMap((stage) => stage.attempts), [run]);
  const waits = useMemo(() => waitsOf(data?.events ?? [], run.endedAt), [data, run.endedAt]);
  const timeline = useMemo(
    () => layoutTimeline(attempts, waits, { now: isLive ? now : Date.parse(run.updatedAt), fold, over: !isLive }),
    [attempts, waits, now, fold, isLive, run.updatedAt],
  );
  if (timeline.rows.length === 0) return <Empty title="No attempts yet." />;
  return (
    <div className="flex flex-col gap-3">
      {error !== null && <Failure error={error} retry={() => void refetch()} />}
      <div className="flex flex-wrap items-center justify-between gap-2 text-sm text-muted">
        <ul className="flex flex-wrap gap-x-4 max-sm:gap-x-3 max-sm:text-xs" aria-label="Legend">
          {Object.entries(LOOKS).map(([kind, { name, bar }]) => (
            <li key={kind} className="flex items-center gap-1.5">
              <span aria-hidden="true" className="relative inline-block h-7 w-6">
                <span className={`absolute inset-x-0 ${bar}`} />
              </span>
              {name}
            </li>
          ))}
        </ul>
        <label className="flex min-h-9 cursor-pointer items-center gap-2 pointer-coarse:min-h-11">
          <input type="checkbox" checked={fold} onChange={({ target }) => setFold(target.checked)} />
          Fold waits for people
        </label>
      </div>
      <Rows rows={timeline.rows} run={run} />
      <p className="text-sm text-muted tabular">
        {duration(timeline.totalMs)} in total · {duration(timeline.workingMs)} agents working ·{" "}
        {duration(timeline.waitingMs)} waiting for people
        {timeline.folds.length > 0 && ` · folded: ${timeline.folds.map(({ ms }) => duration(ms)).join(", ")}`}
      </p>
    </div>
  );
}

/** Draws only the rows in view: a run can have thousands of attempts. */
function Rows({ rows, run }: { readonly rows: readonly TimelineRow[]; readonly run: RunDetail }): ReactNode {
  const list = useRef<HTMLOListElement>(null);
  const top = useTop(list);
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => 36,
    overscan: 20,
    scrollMargin: top,
    getItemKey: (index) => rows[index]?.key ?? index,
  });
  return (
    <VirtualList
      list={list}
      rows={rows}
      virtual={virtual}
      itemClass="grid grid-cols-1 items-center border-b border-line/60 py-0.5 text-sm min-[480px]:grid-cols-[11rem_1fr] min-[480px]:gap-3"
    >
      {(row) => <Row row={row} run={run} />}
    </VirtualList>
  );
}

function Row({ row, run }: { readonly row: TimelineRow; readonly run: RunDetail }): ReactNode {
  const total = row.segments.reduce((sum, { ms, kind }) => sum + (kind === "queued" ? 0 : ms), 0);
  const name = (
    <span className="truncate">
      <SafeText>{row.name}</SafeText>
    </span>
  );
  return (
    <>
      <span className="flex items-baseline justify-between gap-2">
        {row.attempt === null ? (
          <Link
            to="/runs/$run"
            params={{ run: String(run.number) }}
            search={{ tab: "history", stage: row.stage }}
            resetScroll={false}
            className="flex min-h-8 min-w-0 items-center text-attention no-underline hover:underline"
          >
            {name}
          </Link>
        ) : (
          <AttemptLink
            run={run.number}
            stage={row.stage}
            attempt={row.attempt}
            className="flex min-h-8 min-w-0 items-center no-underline hover:underline"
          >
            {name}
          </AttemptLink>
        )}
        <span className="shrink-0 text-xs text-muted tabular">{duration(total)}</span>
      </span>
      <span className="relative block h-7">
        {row.segments.map((segment) => (
          <Bar key={segment.kind} segment={segment} />
        ))}
        <Outcome row={row} />
      </span>
    </>
  );
}

function Bar({ segment: { kind, begin, end, ms, isOpen, isFolded } }: { readonly segment: Segment }): ReactNode {
  if (ms === 0 && !isOpen) return null;
  const { name, bar } = LOOKS[kind];
  const text = `${name} ${duration(ms)}${isOpen ? ", still" : ""}${isFolded ? ", folded" : ""}`;
  return (
    <span
      {...tip(text)}
      className={`absolute ${bar} ${isOpen && kind === "working" ? "pulse" : ""}`}
      style={{ left: `${begin * 100}%`, width: `max(2px, ${(end - begin) * 100}%)` }}
    >
      {isFolded && (
        <span
          aria-hidden="true"
          className="absolute inset-y-0 left-1/2 flex -translate-x-1/2 items-center bg-panel px-0.5 text-xs leading-none text-attention"
        >
          ≈
        </span>
      )}
      <span className="sr-only">{text}</span>
    </span>
  );
}

/** Beside the bar, on the side where there is room. */
function Outcome({ row }: { readonly row: TimelineRow }): ReactNode {
  const end = row.segments.at(-1)?.end ?? 0;
  const begin = row.segments[0]?.begin ?? 0;
  if (row.outcome === null) return null;
  const style = end < 0.75 ? { left: `calc(${end * 100}% + 6px)` } : { right: `calc(${(1 - begin) * 100}% + 6px)` };
  return (
    <span
      className={`absolute top-1 max-w-[40%] truncate text-xs leading-5 text-muted ${end >= 0.75 && begin < 0.25 ? "sr-only" : ""}`}
      style={style}
    >
      <SafeText max={60}>{row.outcome}</SafeText>
    </span>
  );
}
