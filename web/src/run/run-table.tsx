// The table of runs; cards on a phone. Only the rows in view are drawn.

import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef, useState } from "react";
import { SafeText } from "../ui/safe-text.tsx";
import { plain } from "../base/plain-text.ts";
import { StatusBadge } from "../ui/status-badge.tsx";
import { Ago, Elapsed, usd } from "../ui/time.tsx";
import { standingOfRow } from "./standing.ts";
import type { ListedRun } from "./types.ts";
import { Icon } from "../ui/icon.tsx";

const COLUMNS =
  "xl:grid xl:grid-cols-[minmax(13rem,1.6fr)_minmax(10rem,2fr)_minmax(4rem,7rem)_minmax(4rem,6rem)_minmax(4rem,5rem)_4rem_5rem_4rem_6.5rem] xl:items-center xl:gap-x-3";
const HEADS = ["Status", "Run", "Flow", "Stage", "Agent", "Loop", "Elapsed", "Cost", "Updated"] as const;

export function RunTable({
  rows,
  label,
  nearEnd,
}: {
  readonly rows: readonly ListedRun[];
  readonly label: string;
  /** Called when the last rows come into view. */
  readonly nearEnd: () => void;
}): ReactNode {
  const box = useRef<HTMLDivElement>(null);
  // Queried once, because every row needs it.
  const [height] = useState(() => (matchMedia("(min-width: 80rem)").matches ? 52 : 124));
  const virtual = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => height,
    overscan: 10,
    scrollMargin: box.current?.offsetTop ?? 0,
    getItemKey: (index) => rows[index]?.number ?? index,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (rows.length > 0 && last >= rows.length - 15) nearEnd();
  }, [last, rows.length, nearEnd]);
  return (
    <div
      role="table"
      aria-label={label}
      aria-rowcount={rows.length + 1}
      className="rounded-lg border border-line bg-panel"
    >
      <div role="rowgroup">
        <div
          role="row"
          className={`sr-only border-b border-line px-4 py-2 text-xs text-muted xl:not-sr-only xl:px-4 xl:py-2 ${COLUMNS}`}
        >
          {HEADS.map((name, index) => (
            <span key={name} role="columnheader" className={index > 5 ? "xl:text-right" : ""}>
              {name}
            </span>
          ))}
        </div>
      </div>
      <div ref={box} role="rowgroup" className="relative" style={{ height: virtual.getTotalSize() }}>
        {items.map(({ index, key, start }) => {
          const run = rows[index];
          if (run === undefined) return null;
          return (
            <div
              key={key}
              role="row"
              aria-rowindex={index + 2}
              data-index={index}
              ref={virtual.measureElement}
              className={`absolute inset-x-0 top-0 flex flex-col gap-1 border-b border-line/60 px-4 py-2 text-sm hover:bg-sunken ${COLUMNS}`}
              style={{ transform: `translateY(${start - virtual.options.scrollMargin}px)` }}
            >
              <Cells run={run} />
            </div>
          );
        })}
      </div>
    </div>
  );
}

function Cells({ run }: { readonly run: ListedRun }): ReactNode {
  const { is, why } = standingOfRow(run);
  const isOver = run.status === "completed" || run.status === "canceled";
  return (
    <>
      <div role="cell" className="flex min-w-0 flex-col items-start gap-0.5">
        <StatusBadge is={is} />
        {why !== "" && (
          <span title={plain(why)} className="w-full truncate text-xs text-muted">
            <SafeText max={200}>{why}</SafeText>
          </span>
        )}
      </div>
      <div role="cell" className="min-w-0 max-xl:order-first">
        <Link
          to="/runs/$run"
          params={{ run: String(run.number) }}
          className="flex min-h-8 min-w-0 items-center gap-2 font-medium text-ink no-underline hover:underline pointer-coarse:min-h-11"
        >
          <span className="font-normal text-muted tabular">#{run.number}</span>
          <span className="truncate">
            <SafeText max={200}>{run.subject.title}</SafeText>
          </span>
        </Link>
      </div>
      <div role="cell" className="truncate text-muted max-xl:hidden">
        {run.flow}
      </div>
      <div role="cell" className="truncate text-muted max-xl:hidden">
        <SafeText max={60}>{run.stage ?? run.word}</SafeText>
      </div>
      <div role="cell" className="truncate text-muted max-xl:hidden">
        <SafeText max={60}>{run.agent ?? "—"}</SafeText>
      </div>
      <div role="cell" className="whitespace-nowrap max-xl:hidden">
        {run.loop === null ? <span className="text-muted">—</span> : <Loop loop={run.loop} />}
      </div>
      <div role="cell" className="text-muted max-xl:hidden xl:text-right">
        <Elapsed since={run.createdAt} until={isOver ? run.since : null} />
      </div>
      <div role="cell" className="tabular text-muted max-xl:hidden xl:text-right">
        {cost(run)}
      </div>
      <div role="cell" className="text-muted max-xl:hidden xl:text-right">
        <Ago at={run.updatedAt} />
      </div>
      <div role="cell" className="flex flex-wrap gap-x-3 text-xs text-muted xl:hidden">
        <span>{run.flow}</span>
        {run.stage !== null && <SafeText max={60}>{run.stage}</SafeText>}
        {run.loop !== null && <Loop loop={run.loop} />}
        <span className="tabular">{cost(run)}</span>
        <Ago at={run.updatedAt} />
      </div>
    </>
  );
}

function Loop({ loop: { key, loops, max } }: { readonly loop: NonNullable<ListedRun["loop"]> }): ReactNode {
  const isLast = max !== null && loops >= max;
  return (
    <span title={`${key}: sent back ${loops} times`} className={isLast ? "text-attention" : "text-warning"}>
      <Icon name="back" className="mr-1 inline" />
      <span className="sr-only">{key} </span>
      {loops}
      {max === null ? "" : ` of ${max}`}
    </span>
  );
}

function cost({ spent }: ListedRun): string {
  if (spent === null || (spent.usd === 0 && spent.unknownUsd > 0)) return "—";
  return `${usd(spent.usd)}${spent.unknownUsd > 0 ? "+" : ""}`;
}
