import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { SHOWN, shownOf } from "../base/status.ts";
import { plain } from "../base/plain-text.ts";
import { Icon } from "../ui/icon.tsx";
import { TONES } from "../ui/status-badge.tsx";
import { lastRunsQuery } from "./queries.ts";
import { tip } from "../ui/tip.ts";

/** The last runs of a flow as icons, newest first; each leads to its run. */
export function LastRuns({ flow }: { readonly flow: string }): ReactNode {
  const { data } = useQuery(lastRunsQuery(flow));
  if (data === undefined) return <span className="text-muted">…</span>;
  if (data.runs.length === 0) return <span className="text-muted">none yet</span>;
  return (
    <span className="flex flex-wrap gap-1 max-md:justify-end">
      {data.runs.map((run) => {
        const { word, icon, tone } = SHOWN[shownOf(run)];
        const text = `Run ${run.number}: ${word}, ${plain(run.subject.title, 80)}`;
        return (
          <Link
            key={run.id}
            to="/runs/$run"
            params={{ run: String(run.number) }}
            aria-label={text}
            {...tip(text)}
            className={`inline-flex min-h-7 min-w-7 items-center justify-center rounded-md text-sm no-underline pointer-coarse:min-h-11 pointer-coarse:min-w-11 ${TONES[tone]}`}
          >
            <Icon name={icon} />
          </Link>
        );
      })}
    </span>
  );
}
