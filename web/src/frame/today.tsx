// The cost of today, of the day's budget. Unknown cost is shown as unknown, never counted as 0.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { nowQuery } from "../base/queries.ts";
import { usd } from "../ui/time.tsx";
import { tip } from "../ui/tip.ts";

/** From here on the bar says that little is left. */
const NEAR = 0.8;

export function Today(): ReactNode {
  const today = useQuery(nowQuery).data?.today;
  if (today === undefined) return null;
  const { limit, unknownUsd } = today;
  const part = limit.usd === null || limit.usd === 0 ? null : Math.min(1, today.usd / limit.usd);
  return (
    <Link
      to="/insights"
      search={{ since: "1" }}
      className="flex flex-col gap-1 rounded text-ink no-underline hover:underline pointer-coarse:min-h-11 pointer-coarse:justify-center"
    >
      <span className="tabular">
        Today {unknownUsd > 0 && <span {...tip("Some attempts did not report their cost.")}>≥ </span>}
        {usd(today.usd)}
        {limit.usd !== null && ` of ${usd(limit.usd)}`}
      </span>
      {part !== null && (
        <span aria-hidden="true" className="block h-1 overflow-hidden rounded-full bg-sunken">
          <span
            className={`block h-full ${part >= NEAR ? "bg-attention" : "bg-ink"}`}
            style={{ width: `${Math.round(part * 100)}%` }}
          />
        </span>
      )}
    </Link>
  );
}
