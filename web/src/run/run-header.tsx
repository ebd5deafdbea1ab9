// The head of a run's page: title, state and reason, branch, changes and cost.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useMemo, useState } from "react";
import { call } from "../base/api.ts";
import { useShortcuts } from "../base/keyboard.ts";
import { Badge, StatusBadge } from "../ui/status-badge.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Ago, Elapsed, usd } from "../ui/time.tsx";
import { RunActions } from "./run-actions.tsx";
import { RunEnd } from "../settle/run-end.tsx";
import { runCost, shortCount } from "./run-cost.ts";
import { standingOf } from "./standing.ts";
import type { RunDetail } from "./types.ts";

const ChangeBudget = lazy(async () => ({ default: (await import("./change-budget.tsx")).ChangeBudget }));

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
        {run.end?.state === "imported" && <Badge tone="warning">imported</Badge>}
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
            <SafeText max={60}>{shortId(run.subject.id)}</SafeText>
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
        <DiffStat run={run} />
        <Cost run={run} />
      </div>
      {run.end != null && <RunEnd {...run} end={run.end} />}
    </header>
  );
}

/** How much the run has changed; nothing as long as it has no commit. */
function DiffStat({ run }: { readonly run: RunDetail }): ReactNode {
  const { data } = useQuery({
    queryKey: ["diff", run.id, "stat"],
    queryFn: ({ signal }) => call("runDiff", { params: { run: run.id }, query: { of: "run", limit: 1 } }, { signal }),
    enabled: run.stages.some(({ attempts }) => attempts.some(({ commits }) => commits !== null)),
  });
  if (data === undefined || data.files.length === 0) return null;
  return (
    <span className="tabular">
      {data.files.length} {data.files.length === 1 ? "file" : "files"} <span className="text-good">+{data.added}</span>{" "}
      <span className="text-bad">−{data.removed}</span>
    </span>
  );
}

/** An id that was drawn by lot is known by its beginning. */
function shortId(id: string): string {
  return /^[0-9a-f]{32}$/.test(id) ? id.slice(0, 8) : id;
}

const NO_KEYS: Parameters<typeof useShortcuts>[0] = [];

/** It grows while an agent works. */
function Cost({ run }: { readonly run: RunDetail }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  const { isUnknown, tokens, unknown, usd: dollars } = runCost(run);
  const keys = useMemo(
    () => [{ keys: "b", does: "Change the budget", group: "This run", act: () => setOpen(true) }],
    [],
  );
  const mayChange = run.endedAt === null && (run.limit.usd !== null || run.limit.tokens !== null);
  useShortcuts(mayChange ? keys : NO_KEYS);
  return (
    <span>
      cost{" "}
      <span className="text-ink tabular" data-cost>
        {isUnknown ? "—" : usd(dollars)}
        {run.limit.usd !== null && ` of ${usd(run.limit.usd)}`}
      </span>
      {tokens > 0 && <span className="tabular" data-tokens>{` · ${shortCount(tokens)} tokens`}</span>}
      {!isUnknown && unknown > 0 && " · some attempts did not tell their price"}{" "}
      {mayChange && (
        <button
          type="button"
          className="cursor-pointer text-link underline pointer-coarse:min-h-11"
          aria-keyshortcuts="b"
          onClick={() => setOpen(true)}
        >
          Change budget
        </button>
      )}
      {isOpen && (
        <Suspense>
          <ChangeBudget run={run} close={() => setOpen(false)} />
        </Suspense>
      )}
    </span>
  );
}
