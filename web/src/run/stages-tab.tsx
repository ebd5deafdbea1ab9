// Every stage with its attempts: their verdicts, issues and files.

import { type ReactNode, useEffect, useRef } from "react";
import { Issues } from "../inbox/issues.tsx";
import { Loops } from "./loops.tsx";
import { marksOf } from "./stage-mark.ts";
import { ContainmentBadge } from "../ui/containment-badge.tsx";
import { Icon } from "../ui/icon.tsx";
import { Badge } from "../ui/status-badge.tsx";
import { Conclusion, factsOf, Said } from "./conclusion.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { clock, Elapsed } from "../ui/time.tsx";
import { FileLinks } from "./file-links.tsx";
import type { RunAttempt, RunDetail, RunStage } from "./types.ts";

/** A stage with many attempts shows the last ones; the timeline has all. */
const ATTEMPTS_AT_MOST = 25;

export function StagesTab({
  run,
  selected,
}: {
  readonly run: RunDetail;
  readonly selected: string | undefined;
}): ReactNode {
  const marks = marksOf(run.stages);
  return (
    <div className="flex flex-col gap-4">
      <Loops run={run} />
      <ol aria-label="Stages" className="flex flex-col gap-3">
        {run.stages.map((stage, index) => (
          <StageItem key={stage.id} run={run} stage={stage} isSelected={stage.id === selected}>
            <Badge tone={marks[index]?.tone ?? "quiet"}>
              <Icon name={marks[index]?.icon ?? "circle"} />
              {marks[index]?.word}
            </Badge>
          </StageItem>
        ))}
      </ol>
    </div>
  );
}

function StageItem({
  run,
  stage,
  isSelected,
  children,
}: {
  readonly run: RunDetail;
  readonly stage: RunStage;
  readonly isSelected: boolean;
  readonly children: ReactNode;
}): ReactNode {
  const item = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (isSelected) item.current?.scrollIntoView({ block: "nearest" });
  }, [isSelected]);
  const shown = stage.attempts.slice(-ATTEMPTS_AT_MOST);
  return (
    <li
      ref={item}
      id={`stage-${stage.id}`}
      className={`rounded-md border bg-panel ${isSelected ? "border-ink ring-1 ring-ink" : "border-line"}`}
    >
      <div className="flex flex-wrap items-center gap-2 px-3 py-2">
        <h3 className="text-sm font-semibold">{stage.id}</h3>
        <span className="text-sm text-muted">
          <SafeText>{stage.kind === "gate" ? `${stage.who} decides` : stage.who}</SafeText>
          {stage.track !== "main" && ` · track ${stage.track}`}
        </span>
        <span className="ml-auto">{children}</span>
      </div>
      {stage.attempts.length > shown.length && (
        <p className="px-3 pb-1 text-xs text-muted">
          The last {shown.length} of {stage.attempts.length} attempts.
        </p>
      )}
      {shown.length > 0 && (
        <ol className="divide-y divide-line border-t border-line">
          {shown.toReversed().map((attempt) => (
            <AttemptItem key={attempt.attempt} run={run} attempt={attempt} />
          ))}
        </ol>
      )}
    </li>
  );
}

function AttemptItem({ run, attempt }: { readonly run: RunDetail; readonly attempt: RunAttempt }): ReactNode {
  const { verdict, health, word, summary, reason } = attempt;
  return (
    <li className="flex flex-col gap-1.5 px-3 py-2 text-sm">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <span className="font-medium tabular">#{attempt.attempt}</span>
        <Conclusion word={word} verdict={verdict} health={health} status={attempt.status} />
        <span className="text-muted">
          {attempt.startedAt === null ? (
            `queued since ${clock(attempt.readyAt)}`
          ) : (
            <>
              {clock(attempt.startedAt)} · <Elapsed since={attempt.startedAt} until={attempt.endedAt} />
            </>
          )}
        </span>
        <span className="text-muted">{factsOf(attempt).join(" · ")}</span>
        {attempt.rung !== null && (
          <span className="text-muted">
            <SafeText max={300}>{attempt.rung}</SafeText>
          </span>
        )}
        <ContainmentBadge containment={attempt.containment} />
        <span className="ml-auto flex flex-wrap gap-x-3">
          <FileLinks
            run={run.number}
            attempt={attempt}
            files={["output", "prompt", "events", "diff", "verdict", "handoff"]}
          />
        </span>
      </div>
      {attempt.workspace !== null && (
        <p className="text-xs text-muted">
          worked in{" "}
          <code className="font-mono [overflow-wrap:anywhere]">
            <SafeText max={400}>{attempt.workspace}</SafeText>
          </code>
        </p>
      )}
      <Said text={summary} />
      <Said text={reason} isQuiet />
      <Issues issues={attempt.issues} />
      {attempt.questions.length > 0 && (
        <ul className="list-disc pl-5">
          {attempt.questions.slice(0, 50).map((question) => (
            <li key={question}>
              <SafeText max={2000}>{question}</SafeText>
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}
