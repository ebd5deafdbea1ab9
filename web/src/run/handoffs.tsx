// The handoffs between the stages of a run.

import type { ReactNode } from "react";
import { SafeText } from "../ui/safe-text.tsx";
import { Badge } from "../ui/status-badge.tsx";
import { clock } from "../ui/time.tsx";
import type { RunDetail } from "./types.ts";

const SHOWN = 100;

export function Handoffs({ run, stage }: { readonly run: RunDetail; readonly stage: string | undefined }): ReactNode {
  const handoffs = run.handoffs
    .filter((each) => stage === undefined || each.fromStage === stage || each.toStage === stage)
    .slice(-SHOWN);
  if (handoffs.length === 0) return null;
  return (
    <section className="flex flex-col gap-2">
      <h3 className="text-base font-semibold">Handoffs</h3>
      <ul className="divide-y divide-line rounded-md border border-line bg-panel">
        {handoffs.map((handoff) => (
          <li key={handoff.number} className="flex flex-wrap items-center gap-x-3 gap-y-1 px-3 py-1.5 text-sm">
            <span className="text-muted tabular">{handoff.number}</span>
            <span>
              <SafeText max={160}>{sideText(handoff.fromStage, handoff.fromAgent, "start")}</SafeText> →{" "}
              <SafeText max={160}>{sideText(handoff.toStage, handoff.toAgent, "end")}</SafeText>
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
  );
}

/** The stage beside the agent's name, which may be a code: "qa · IN6". */
function sideText(stage: string | null, agent: string | null, none: string): string {
  if (agent === null) return stage ?? none;
  return stage === null || stage === agent ? agent : `${stage} · ${agent}`;
}
