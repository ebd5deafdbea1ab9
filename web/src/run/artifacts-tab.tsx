// The artifacts of a run: the files of each attempt and the handoffs between stages.

import type { ReactNode } from "react";
import { SafeText } from "../ui/safe-text.tsx";
import { Badge } from "../ui/status-badge.tsx";
import { Empty } from "../ui/states.tsx";
import { clock } from "../ui/time.tsx";
import { FileLinks } from "./file-links.tsx";
import type { RunDetail } from "./types.ts";

const FILES = ["prompt", "output", "events", "diff", "verdict", "handoff"] as const;
const SHOWN = 100;

export function ArtifactsTab({
  run,
  stage,
}: {
  readonly run: RunDetail;
  readonly stage: string | undefined;
}): ReactNode {
  const attempts = run.stages
    .flatMap((each) => each.attempts)
    .filter((each) => stage === undefined || each.stage === stage)
    .slice(-SHOWN);
  const handoffs = run.handoffs
    .filter((each) => stage === undefined || each.fromStage === stage || each.toStage === stage)
    .slice(-SHOWN);
  if (attempts.length === 0 && handoffs.length === 0) return <Empty title="No artifacts yet." />;
  return (
    <div className="flex flex-col gap-5">
      <section className="flex flex-col gap-2">
        <h3 className="text-sm font-semibold">Files of attempts</h3>
        <ul className="divide-y divide-line rounded-md border border-line bg-panel">
          {attempts.map((attempt) => (
            <li
              key={`${attempt.stage}#${attempt.attempt}`}
              className="flex flex-wrap items-center gap-x-4 gap-y-1 px-3 py-1.5 text-sm"
            >
              <span className="w-40 truncate font-medium max-sm:w-full">
                {attempt.stage} #{attempt.attempt}
              </span>
              <FileLinks run={run.number} attempt={attempt} files={FILES} />
            </li>
          ))}
        </ul>
      </section>
      {handoffs.length > 0 && (
        <section className="flex flex-col gap-2">
          <h3 className="text-sm font-semibold">Handoffs</h3>
          <ul className="divide-y divide-line rounded-md border border-line bg-panel">
            {handoffs.map((handoff) => (
              <li key={handoff.number} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-1.5 text-sm">
                <span className="text-muted tabular">{handoff.number}</span>
                <span>
                  <SafeText max={80}>{handoff.fromAgent ?? "start"}</SafeText> →{" "}
                  <SafeText max={80}>{handoff.toAgent ?? "end"}</SafeText>
                </span>
                <Badge tone={handoff.state === "rejected" ? "warning" : "quiet"}>{handoff.state}</Badge>
                {handoff.loop > 0 && <span className="text-muted">loop {handoff.loop}</span>}
                {handoff.rejectionReason !== null && (
                  <span className="min-w-0 break-words">
                    <SafeText max={500}>{handoff.rejectionReason}</SafeText>
                  </span>
                )}
                <span className="ml-auto text-xs text-muted tabular">{clock(handoff.createdAt)}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </div>
  );
}
