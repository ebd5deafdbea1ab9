import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { countLanes, LANES, LANE_WORDS, type WorkItem } from "./item.ts";

/** The six lanes as filters of the list, with how much is in each. */
export function LaneChips({
  items,
  current,
}: {
  readonly items: readonly WorkItem[];
  readonly current: string | undefined;
}): ReactNode {
  const counts = countLanes(items);
  return (
    <ul
      aria-label="State"
      className="flex gap-1.5 max-md:-mx-4 max-md:overflow-x-auto max-md:px-4 max-md:pb-1 md:flex-wrap"
    >
      <Chip lane={undefined} isOn={current === undefined} count={items.length}>
        All
      </Chip>
      {LANES.map((lane) => (
        <Chip key={lane} lane={lane} isOn={current === lane} count={counts.get(lane) ?? 0}>
          {LANE_WORDS[lane]}
        </Chip>
      ))}
    </ul>
  );
}

function Chip({
  lane,
  isOn,
  count,
  children,
}: {
  readonly lane: string | undefined;
  readonly isOn: boolean;
  readonly count: number;
  readonly children: string;
}): ReactNode {
  return (
    <li>
      <Link
        to="/work"
        search={({ lane: _old, ...rest }) => (lane === undefined ? rest : { ...rest, lane })}
        replace
        activeProps={{}}
        {...(isOn ? { "aria-current": "true" as const } : {})}
        className={`flex min-h-8 items-center whitespace-nowrap gap-1.5 rounded-full border px-3 text-sm no-underline pointer-coarse:min-h-11 ${isOn ? "border-ink bg-ink text-page" : "border-line bg-panel text-ink hover:bg-sunken"}`}
      >
        {children}
        <span className={`tabular ${isOn ? "" : "text-muted"}`}>{count}</span>
      </Link>
    </li>
  );
}
