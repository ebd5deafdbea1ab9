// Beside everything else on a run's page: its stages with who works, for how long and at what cost; its loops; its money. It lives: numbers
// grow while an agent works. On a phone it is folded.

import { Link } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense } from "react";
import { Icon } from "../ui/icon.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { TONES } from "../ui/status-badge.tsx";
import { duration, useNow, usd } from "../ui/time.tsx";
import { useMedia, WIDE } from "../ui/use-media.ts";
import { runCost, shortCount } from "./run-cost.ts";
import { marksOf } from "./stage-mark.ts";
import type { RunAttempt, RunDetail, RunStage } from "./types.ts";
import { tip } from "../ui/tip.ts";

const RunGraph = lazy(async () => ({ default: (await import("./run-graph.tsx")).RunGraph }));

type RailProps = { readonly run: RunDetail; readonly selected: string | undefined };

export function RunRail({ run, selected }: RailProps): ReactNode {
  const isWide = useMedia(WIDE);
  if (isWide)
    return (
      <aside aria-label="Stages and cost" className="min-w-0">
        <Content run={run} selected={selected} />
      </aside>
    );
  const done = run.stages.filter(({ state }) => state === "done").length;
  return (
    <details className="min-w-0 rounded-md border border-line bg-panel">
      <summary className="flex min-h-11 cursor-pointer items-center px-3 text-sm font-medium">
        {done} of {run.stages.length} stages done
      </summary>
      <div className="px-3 pb-3">
        <Content run={run} selected={selected} />
      </div>
    </details>
  );
}

function Content({ run, selected }: RailProps): ReactNode {
  const marks = marksOf(run.stages);
  return (
    <div className="flex flex-col gap-4">
      <ol aria-label={`Stages of run ${run.number}`} className="flex flex-col gap-0.5">
        {run.stages.map((stage, index) => {
          const mark = marks[index];
          return (
            <li key={`${stage.track} ${stage.id}`}>
              <Link
                to="/runs/$run"
                params={{ run: String(run.number) }}
                search={{ tab: stage.attempts.length > 0 ? "activity" : "history", stage: stage.id }}
                resetScroll={false}
                {...(stage.id === selected ? { "aria-current": "step" as const } : {})}
                className={`flex min-h-10 min-w-0 items-start gap-2.5 rounded-md px-2 py-1.5 text-ink no-underline hover:bg-sunken pointer-coarse:min-h-11 ${stage.id === selected ? "bg-chosen" : mark?.isActive === true ? "bg-active-soft" : ""}`}
              >
                <span
                  className={`mt-0.5 flex size-5 shrink-0 items-center justify-center rounded-full text-xs ${TONES[mark?.tone ?? "quiet"]}`}
                >
                  <Icon name={mark?.icon ?? "circle"} />
                </span>
                <StageLines stage={stage} word={mark?.word ?? ""} />
              </Link>
            </li>
          );
        })}
      </ol>
      <LoopLines run={run} />
      <Spending run={run} />
      <details className="min-w-0">
        <summary className="flex min-h-8 cursor-pointer items-center text-xs text-muted pointer-coarse:min-h-11">
          Picture of the flow
        </summary>
        <div className="overflow-x-auto rounded-md border border-line bg-panel p-2">
          <Suspense fallback={null}>
            <RunGraph run={run} selected={selected} />
          </Suspense>
        </div>
      </details>
    </div>
  );
}

function StageLines({ stage, word }: { readonly stage: RunStage; readonly word: string }): ReactNode {
  const isLive = stage.state === "running";
  const now = useNow(isLive ? 1000 : 3_600_000);
  const times = stage.attempts.filter(({ startedAt }) => startedAt !== null);
  const ms = times.reduce((sum, each) => sum + (endOf(each, now) - Date.parse(each.startedAt ?? "")), 0);
  const money = moneyOf(stage.attempts);
  return (
    <span className="flex min-w-0 flex-1 flex-col">
      <span className="flex min-w-0 items-baseline justify-between gap-2 text-sm">
        <span className="truncate font-medium">{stage.id}</span>
        {times.length > 0 && <span className="shrink-0 text-xs tabular">{duration(Math.max(0, ms))}</span>}
      </span>
      <span className="flex min-w-0 items-baseline justify-between gap-2 text-xs text-muted">
        <span className="truncate">
          <span className="sr-only">{word}. </span>
          <SafeText max={60}>{stage.kind === "gate" ? `${stage.who} decides` : stage.who}</SafeText>
          {stage.track !== "main" && ` · ${stage.track}`}
          {stage.attempts.length > 1 && ` · attempt ${stage.attempts.length}`}
        </span>
        {money !== "" && <span className="shrink-0 tabular">{money}</span>}
      </span>
    </span>
  );
}

const endOf = ({ endedAt }: RunAttempt, now: number): number => (endedAt === null ? now : Date.parse(endedAt));

/** Dollars if they are known, else tokens; nothing if nothing was reported. */
function moneyOf(attempts: readonly RunAttempt[]): string {
  const used = attempts.flatMap(({ usage }) => (usage === null ? [] : [usage]));
  const dollars = used.filter((each) => each.usd !== null);
  if (dollars.length > 0) return usd(dollars.reduce((sum, each) => sum + (each.usd ?? 0), 0));
  const tokens = used.reduce((sum, each) => sum + (each.inputTokens ?? 0) + (each.outputTokens ?? 0), 0);
  return tokens === 0 ? "" : `${shortCount(tokens)} tokens`;
}

function LoopLines({ run }: { readonly run: RunDetail }): ReactNode {
  if (run.counters.length === 0) return null;
  return (
    <ul className="flex flex-col gap-1 px-2">
      {run.counters.map(({ key, loops, max }) => (
        <li
          key={key}
          {...tip(`How often ${key} has sent work back`)}
          className={`flex items-center gap-1.5 text-xs ${loops > 0 && max !== null && loops >= max ? "text-attention" : "text-muted"}`}
        >
          <Icon name="back" />
          {key} {loops}
          {max === null ? "" : ` of ${max}`}
        </li>
      ))}
    </ul>
  );
}

/** The usage of the run against its limit, working attempts included. Attempts without a reported cost are named, not counted as zero. */
function Spending({ run }: { readonly run: RunDetail }): ReactNode {
  const limit = run.limit.usd;
  const cost = runCost(run);
  if (cost.attempts === 0 && cost.tokens === 0) return null;
  const share = limit === null ? 0 : Math.min(1, cost.usd / limit);
  return (
    <div className="flex flex-col gap-1 px-2">
      <p className="text-xs text-muted">
        <span className="text-base font-semibold text-ink tabular">{cost.isUnknown ? "—" : usd(cost.usd)}</span>
        {limit !== null && ` of ${usd(limit)}`}
        {cost.tokens > 0 && ` · ${shortCount(cost.tokens)} tokens`}
      </p>
      {limit !== null && !cost.isUnknown && (
        <span
          role="meter"
          aria-label="Cost of the run against its limit"
          aria-valuemin={0}
          aria-valuemax={limit}
          aria-valuenow={Math.min(cost.usd, limit)}
          className="block h-1.5 overflow-hidden rounded-full bg-quiet-soft"
        >
          <span
            className={`block h-full ${share >= 1 ? "bg-bad" : share >= 0.8 ? "bg-attention" : "bg-ink"}`}
            style={{ width: `${share * 100}%` }}
          />
        </span>
      )}
      {cost.unknown > 0 && (
        <p className="text-xs text-muted">
          {cost.unknown} of {cost.attempts} attempts did not report their cost.
        </p>
      )}
    </div>
  );
}
