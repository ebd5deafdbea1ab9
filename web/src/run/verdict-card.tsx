// The end of an attempt's activity: its verdict, its usage, and its files.

import { SafeText } from "../ui/safe-text.tsx";
import type { ReactNode } from "react";
import { Issues } from "../inbox/issues.tsx";
import { ContainmentBadge } from "../ui/containment-badge.tsx";
import { Elapsed } from "../ui/time.tsx";
import { Conclusion, factsOf, Said } from "./conclusion.tsx";
import { FileLinks } from "./file-links.tsx";
import type { RunAttempt, RunDetail } from "./types.ts";

const FILES = ["prompt", "output", "events", "diff", "verdict", "handoff"] as const;

export function VerdictCard({ run, attempt }: { readonly run: RunDetail; readonly attempt: RunAttempt }): ReactNode {
  const { startedAt, endedAt, verdict, health, word, summary, reason } = attempt;
  return (
    <section
      aria-label={`Verdict of ${attempt.stage} #${attempt.attempt}`}
      className="mt-2 flex min-w-0 flex-col gap-1.5 rounded-md border border-line bg-panel px-3 py-2 text-sm"
    >
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Conclusion word={word} verdict={verdict} health={health} status={attempt.status} />
        {startedAt !== null && (
          <span className="text-muted">
            after <Elapsed since={startedAt} until={endedAt} />
          </span>
        )}
        <span className="text-muted">{factsOf(attempt).join(" · ")}</span>
        {attempt.rung !== null && (
          <span className="text-muted">
            <SafeText max={300}>{attempt.rung}</SafeText>
          </span>
        )}
        <ContainmentBadge containment={attempt.containment} />
      </div>
      <Said text={summary} />
      <Said text={reason} isQuiet />
      <Issues issues={attempt.issues} />
      <div className="flex flex-wrap gap-x-3">
        <FileLinks run={run.number} attempt={attempt} files={FILES} />
      </div>
    </section>
  );
}
