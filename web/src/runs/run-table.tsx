// The table of runs: sorted by its columns, selected and acted on together; cards on a narrow screen.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";
import { plain } from "../base/plain-text.ts";
import { inboxQuery, whoQuery } from "../base/queries.ts";
import { BulkBar } from "../bulk/bulk-bar.tsx";
import type { BulkSubject } from "../bulk/plan.ts";
import { standingOfRow } from "../run/standing.ts";
import type { ListedRun } from "../run/types.ts";
import { mayNot } from "../settle/acts.ts";
import { type DataColumn, DataTable, type TableEntry } from "../ui/data-table.tsx";
import { Icon } from "../ui/icon.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { StatusBadge } from "../ui/status-badge.tsx";
import { Ago, Elapsed, usd } from "../ui/time.tsx";
import { useRowKeys } from "../ui/use-row-keys.ts";
import { useSelection } from "../ui/use-selection.ts";
import { RUN_SORTS, type RunSort, sortRuns } from "./sort-runs.ts";
import { tip } from "../ui/tip.ts";

type Props = {
  readonly rows: readonly ListedRun[];
  readonly sort: RunSort;
  readonly onSort: (column: string) => void;
  /** Called when the last rows come into view. */
  readonly nearEnd: () => void;
};

export function RunTable({ rows, sort, onSort, nearEnd }: Props): ReactNode {
  const entries = useMemo(
    () => sortRuns(rows, sort).map((row): TableEntry<ListedRun> => ({ is: "row", key: row.id, row })),
    [rows, sort],
  );
  const keys = useMemo(() => entries.map(({ key }) => key), [entries]);
  const selection = useSelection(keys);
  useRowKeys("Runs", selection);
  const ends = useQuery(inboxQuery).data?.looseEnds;
  const items = useQuery(inboxQuery).data?.items;
  const who = useQuery(whoQuery).data;
  const subjects = useMemo(() => {
    const chosen = new Set(selection.keys);
    return rows
      .filter(({ id }) => chosen.has(id))
      .map(
        (run): BulkSubject => ({
          key: run.id,
          title: run.subject.title,
          run,
          runStatus: run.status,
          file: null,
          end: ends?.find((each) => each.run?.id === run.id),
          items: (items ?? []).flatMap(({ id, runId }) => (runId === run.id ? [id] : [])),
        }),
      );
  }, [rows, selection.keys, ends, items]);
  return (
    <>
      <DataTable
        label="Runs"
        columns={COLUMNS}
        entries={entries}
        card={(run) => <RunCard run={run} />}
        nameOf={({ number, subject }) => `run #${number}: ${plain(subject.title, 80)}`}
        selection={selection}
        sortOf={(column) =>
          RUN_SORTS.some((key) => key === column) ? (sort.key === column ? { isDown: sort.isDown } : null) : undefined
        }
        onSort={onSort}
        nearEnd={nearEnd}
      />
      <BulkBar subjects={subjects} clear={selection.clear} disabledBecause={mayNot(who)} />
    </>
  );
}

const COLUMNS: readonly DataColumn<ListedRun>[] = [
  { key: "run", name: "Run", width: "minmax(11rem,2.4fr)", cell: (run) => <RunLink run={run} /> },
  { key: "status", name: "Status", width: "minmax(13.5rem,2.4fr)", cell: (run) => <Standing run={run} /> },
  { key: "flow", name: "Flow", width: "minmax(3.5rem,5.5rem)", cell: ({ flow }) => <Quiet>{flow}</Quiet> },
  {
    key: "stage",
    name: "Stage",
    width: "minmax(4rem,5.5rem)",
    cell: ({ stage, word }) => <Quiet>{stage ?? word}</Quiet>,
  },
  { key: "agent", name: "Agent", width: "minmax(3.5rem,6.5rem)", cell: ({ agent }) => <Quiet>{agent ?? "—"}</Quiet> },
  {
    key: "loop",
    name: "Loop",
    width: "3.75rem",
    cell: ({ loop }) => (loop === null ? <Quiet>—</Quiet> : <Loop loop={loop} />),
  },
  { key: "elapsed", name: "Elapsed", width: "4.5rem", isEnd: true, cell: (run) => <Time run={run} /> },
  { key: "cost", name: "Cost", width: "3.75rem", isEnd: true, cell: (run) => <Quiet>{cost(run)}</Quiet> },
  {
    key: "updated",
    name: "Updated",
    width: "5rem",
    isEnd: true,
    cell: ({ updatedAt }) => (
      <span className="text-muted">
        <Ago at={updatedAt} />
      </span>
    ),
  },
];

function RunLink({ run }: { readonly run: ListedRun }): ReactNode {
  return (
    <Link
      to="/runs/$run"
      params={{ run: String(run.number) }}
      data-row={run.id}
      className="flex min-h-8 min-w-0 items-center gap-2 font-medium text-ink no-underline hover:underline pointer-coarse:min-h-11"
    >
      <span className="font-normal text-muted tabular">#{run.number}</span>
      <span className="truncate">
        <SafeText max={200}>{run.subject.title}</SafeText>
      </span>
    </Link>
  );
}

function Standing({ run }: { readonly run: ListedRun }): ReactNode {
  const { is, why } = standingOfRow(run);
  return (
    <div className="flex min-w-0 flex-col items-start gap-0.5">
      <StatusBadge is={is} />
      {why !== "" && (
        <span {...tip(plain(why))} className="w-full truncate text-xs text-muted">
          <SafeText max={200}>{why}</SafeText>
        </span>
      )}
    </div>
  );
}

function Time({ run }: { readonly run: ListedRun }): ReactNode {
  const isOver = run.status === "completed" || run.status === "canceled";
  return (
    <span className="text-muted">
      <Elapsed since={run.createdAt} until={isOver ? run.since : null} />
    </span>
  );
}

function RunCard({ run }: { readonly run: ListedRun }): ReactNode {
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <RunLink run={run} />
      <Standing run={run} />
      <p className="flex flex-wrap gap-x-3 text-xs text-muted">
        <span>{run.flow}</span>
        {run.stage !== null && <SafeText max={60}>{run.stage}</SafeText>}
        {run.loop !== null && <Loop loop={run.loop} />}
        <span className="tabular">{cost(run)}</span>
        <Ago at={run.updatedAt} />
      </p>
    </div>
  );
}

function Quiet({ children }: { readonly children: string }): ReactNode {
  return (
    <span className="text-muted">
      <SafeText max={60}>{children}</SafeText>
    </span>
  );
}

function Loop({ loop: { key, loops, max } }: { readonly loop: NonNullable<ListedRun["loop"]> }): ReactNode {
  const isLast = max !== null && loops >= max;
  return (
    <span {...tip(`${key}: sent back ${loops} times`)} className={isLast ? "text-attention" : "text-warning"}>
      <Icon name="back" className="mr-1 inline" />
      <span className="sr-only">{key} </span>
      {loops}
      {max === null ? "" : ` of ${max}`}
    </span>
  );
}

function cost({ spent }: ListedRun): string {
  if (spent === null || (spent.usd === 0 && spent.unknownUsd > 0)) return "—";
  return `${usd(spent.usd)}${spent.unknownUsd > 0 ? "+" : ""}`;
}
