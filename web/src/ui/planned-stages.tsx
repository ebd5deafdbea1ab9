// The stages that will run, in order: who plays each, what it reads and hands over, what it usually costs.

import type { ReactNode } from "react";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { SafeText } from "./safe-text.tsx";

type PlannedStage = AnswerTo<"previewRun">["plan"]["stages"][number];

export function PlannedStages({ stages }: { readonly stages: readonly PlannedStage[] }): ReactNode {
  return (
    <ol aria-label="Stages" className="flex flex-col divide-y divide-line rounded-md border border-line">
      {stages.map((stage) => (
        <Planned key={`${stage.track} ${stage.stage}`} stage={stage} />
      ))}
    </ol>
  );
}

function Planned({ stage }: { readonly stage: PlannedStage }): ReactNode {
  const { track, who, kind, runner, model, when, reads, produces, usd } = stage;
  const player = [runner, model].filter((part) => part !== null).join(" ");
  return (
    <li className="flex flex-wrap items-baseline gap-x-3 gap-y-0.5 px-3 py-1.5">
      <span className="font-medium">
        {stage.stage}
        {track !== "main" && <span className="text-muted"> ({track})</span>}
      </span>
      <span>
        <SafeText max={100}>{kind === "gate" ? `${who} decides` : who}</SafeText>
      </span>
      {player !== "" && <span className="text-muted">{player}</span>}
      {usd !== null && <span className="text-muted">about ${usd.toFixed(2)}</span>}
      {when !== null && (
        <span className="text-muted">
          only if <SafeText max={500}>{when}</SafeText>
        </span>
      )}
      {reads.length > 0 && (
        <span className="text-muted">
          reads <SafeText max={400}>{reads.join(", ")}</SafeText>
        </span>
      )}
      {produces.length > 0 && (
        <span className="text-muted">
          hands over <SafeText max={400}>{produces.join(", ")}</SafeText>
        </span>
      )}
    </li>
  );
}
