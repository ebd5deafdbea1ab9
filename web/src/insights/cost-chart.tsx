// Cost over time beside the day's budget, drawn by hand. The table below it says the same in numbers.

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { nowQuery } from "../base/queries.ts";
import { usd } from "../ui/time.tsx";
import type { CostRow } from "./bars.ts";
import { costChart, HEIGHT, WIDTH } from "./chart.ts";

export function CostOverTime({
  rows,
  since,
}: {
  readonly rows: readonly CostRow[];
  readonly since: string | null;
}): ReactNode {
  const dayLimit = useQuery(nowQuery).data?.today.limit.usd ?? null;
  const until = new Date().toISOString().slice(0, 10);
  const { bars, by, limit, limitY, most } = costChart(rows, { since, until, dayLimit });
  const first = bars[0];
  if (bars.length < 2 || first === undefined) return null;
  const over = bars.filter(({ isOver }) => isOver).length;
  const unknown = bars.reduce((sum, bar) => sum + bar.unknown, 0);
  const said = [
    `Cost per ${by} from ${first.key}, at most ${usd(Math.max(...bars.map((bar) => bar.usd)))}.`,
    limit === null ? "There is no limit." : `The limit of a ${by} is ${usd(limit)}; ${over} reached it.`,
  ].join(" ");
  return (
    <figure className="flex flex-col gap-1">
      <div className="flex gap-2">
        <div aria-hidden="true" className="flex w-14 flex-col justify-between text-right text-xs text-muted tabular">
          <span>{usd(most)}</span>
          <span>$0</span>
        </div>
        <svg
          role="img"
          aria-label={said}
          viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
          preserveAspectRatio="none"
          className="h-28 min-w-0 flex-1 border-b border-l border-line"
        >
          {bars.map(({ key, x, y, width, height, isOver, usd: amount }) => (
            <rect
              key={key}
              x={x}
              y={y}
              width={width}
              height={height}
              className={isOver ? "fill-attention" : "fill-active"}
            >
              <title>{`${key}: ${usd(amount)}`}</title>
            </rect>
          ))}
          {limitY !== null && (
            <line
              x1={0}
              x2={WIDTH}
              y1={limitY}
              y2={limitY}
              strokeDasharray="6 4"
              vectorEffect="non-scaling-stroke"
              className="stroke-attention"
            />
          )}
        </svg>
      </div>
      <figcaption className="flex flex-wrap justify-between gap-x-4 pl-16 text-xs text-muted">
        <span className="tabular">{first.key}</span>
        <span>
          per {by}
          {limit !== null && `, limit ${usd(limit)}${limitY === null ? " (far above)" : " (dashed)"}`}
          {unknown > 0 && `; ${unknown} attempts did not report their cost`}
        </span>
        <span className="tabular">{bars.at(-1)?.key === until || by === "week" ? "today" : bars.at(-1)?.key}</span>
      </figcaption>
    </figure>
  );
}
