// The head of a run's page: title, state and reason, cost, loops.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { call } from "../base/api.ts";
import { Badge, StatusBadge } from "../ui/status-badge.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Ago, Elapsed, usd } from "../ui/time.tsx";
import { RunActions } from "./run-actions.tsx";
import { RunEnd } from "../settle/run-end.tsx";
import { standingOf } from "./standing.ts";
import type { RunDetail } from "./types.ts";
import { Icon } from "../ui/icon.tsx";

export function RunHeader({ run, children }: { readonly run: RunDetail; readonly children?: ReactNode }): ReactNode {
  const { is, why } = standingOf(run);
  const branch = run.stages.flatMap(({ attempts }) => attempts.flatMap((attempt) => attempt.branch ?? [])).at(-1);
  return (
    <header className="mb-4 flex flex-col gap-2">
      <div className="flex flex-wrap items-start justify-between gap-3">
        <h1 className="min-w-0 text-xl font-semibold tracking-tight break-words">
          <span className="font-normal text-muted tabular">#{run.number}</span> <SafeText>{run.subject.title}</SafeText>
        </h1>
        <div className="flex flex-wrap items-center gap-2">
          {children}
          <RunActions run={run} />
        </div>
      </div>
      <p className="flex flex-wrap items-center gap-x-3 gap-y-1 text-sm">
        <StatusBadge is={is} />
        <span className="text-muted">
          <SafeText>{run.word}</SafeText>
        </span>
        {why !== "" && (
          <span>
            <SafeText max={400}>{why}</SafeText>
          </span>
        )}
      </p>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 text-sm text-muted">
        <span>
          flow{" "}
          <Link to="/flows/$flow" params={{ flow: run.flow }}>
            {run.flow}
          </Link>
        </span>
        <span>
          ticket{" "}
          <Link to="/tickets/$ticket" params={{ ticket: run.subject.id }} className="break-all">
            <SafeText max={60}>{run.subject.id}</SafeText>
          </Link>
        </span>
        {branch !== undefined && (
          <span>
            branch{" "}
            <code className="text-xs break-all">
              <SafeText>{branch}</SafeText>
            </code>
          </span>
        )}
        <span>
          {run.endedAt !== null && (
            <>
              took <Elapsed since={run.createdAt} until={run.endedAt} />,{" "}
            </>
          )}
          started <Ago at={run.createdAt} />
        </span>
        <Spending run={run} />
        {run.counters.map(({ key, loops, max }) => (
          <LoopBadge key={key} name={key} loops={loops} max={max} />
        ))}
      </div>
      {run.end != null && <RunEnd {...run} end={run.end} />}
    </header>
  );
}

function LoopBadge({
  name,
  loops,
  max,
}: {
  readonly name: string;
  readonly loops: number;
  readonly max: number | null;
}): ReactNode {
  const tone = loops === 0 ? "quiet" : max !== null && loops >= max ? "attention" : "warning";
  return (
    <Badge tone={tone} title={`How often ${name} has sent work back`}>
      <Icon name="back" />
      {name} {loops}
      {max === null ? "" : ` of ${max}`}
    </Badge>
  );
}

/** The reported cost against the limit of a run. Attempts without a reported cost are named, not counted as zero. */
function Spending({ run }: { readonly run: RunDetail }): ReactNode {
  const limit = useRunLimit();
  const { spent } = run;
  if (spent === null || spent.attempts === 0) return <span>cost —</span>;
  const isKnown = spent.unknownUsd < spent.attempts;
  const share = limit === null ? 0 : Math.min(1, spent.usd / limit);
  return (
    <span className="inline-flex items-center gap-2">
      <span>
        cost <span className="text-ink tabular">{isKnown ? usd(spent.usd) : "—"}</span>
        {limit !== null && ` of ${usd(limit)}`}
        {spent.unknownUsd > 0 && ` · ${spent.unknownUsd} of ${spent.attempts} attempts did not report it`}
      </span>
      {limit !== null && isKnown && (
        <span
          role="meter"
          aria-label="Cost of the run against its limit"
          aria-valuemin={0}
          aria-valuemax={limit}
          aria-valuenow={spent.usd}
          className="inline-block h-2 w-20 overflow-hidden rounded-full bg-quiet-soft"
        >
          <span
            className={`block h-full ${share >= 1 ? "bg-bad" : share >= 0.8 ? "bg-attention" : "bg-active"}`}
            style={{ width: `${share * 100}%` }}
          />
        </span>
      )}
    </span>
  );
}

function useRunLimit(): number | null {
  const { data } = useQuery({
    queryKey: ["settings"],
    queryFn: ({ signal }) => call("settings", {}, { signal }),
    staleTime: 5 * 60_000,
  });
  const budgets = data?.settings.find(({ name }) => name === "budgets")?.value as
    | { readonly run?: { readonly usd?: number | null } | null }
    | null
    | undefined;
  return budgets?.run?.usd ?? null;
}
