// The work as a table: sorted, grouped and filtered as the address says; rows can be selected and acted on together.

import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";
import { BulkBar } from "../bulk/bulk-bar.tsx";
import type { BulkSubject } from "../bulk/plan.ts";
import { mayNot } from "../settle/acts.ts";
import { whoQuery } from "../base/queries.ts";
import { plain } from "../base/plain-text.ts";
import { Button } from "../ui/button.tsx";
import { DataTable, type TableEntry } from "../ui/data-table.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Empty } from "../ui/states.tsx";
import { useNow } from "../ui/time.tsx";
import { useRowKeys } from "../ui/use-row-keys.ts";
import { useSelection } from "../ui/use-selection.ts";
import { groupWork, isGrouping, nextSort, readSort, sortWork, SORTS, type SortKey, writeSort } from "./arrange.ts";
import { workColumns } from "./columns.tsx";
import { useLastLines } from "./last-lines.ts";
import { isLane, type WorkItem } from "./item.ts";
import type { Older } from "./queries.ts";
import { WorkCard } from "./row.tsx";
import { subjectOf } from "./subject.ts";

export function WorkList({ items, older }: { readonly items: readonly WorkItem[]; readonly older: Older }): ReactNode {
  const search = useSearch({ from: "/work" });
  const navigate = useNavigate({ from: "/work" });
  const sort = readSort(search.sort);
  const { lane, by } = search;
  const lines = useLastLines();
  const now = useNow(15_000);
  const entries = useMemo(() => entriesOf(items, lane, readSort(search.sort), by), [items, lane, search.sort, by]);
  const keys = useMemo(() => entries.flatMap((entry) => (entry.is === "row" ? [entry.key] : [])), [entries]);
  const selection = useSelection(keys);
  useRowKeys("Work", selection);
  const columns = useMemo(() => workColumns(lines, now), [lines, now]);
  const subjects = useMemo(() => subjectsOf(items, selection.keys), [items, selection.keys]);
  const who = useQuery(whoQuery).data;
  if (entries.length === 0) return <Empty title="Nothing is in this state." />;
  return (
    <>
      <DataTable
        label="Work"
        columns={columns}
        entries={entries}
        card={(item) => <WorkCard item={item} line={lines.get(item.ticket.newest?.id ?? "")} now={now} />}
        nameOf={({ ticket }) => plain(ticket.title, 80)}
        selection={selection}
        sortOf={(column) =>
          SORTS.some((key) => key === column) ? (sort.key === column ? { isDown: sort.isDown } : null) : undefined
        }
        onSort={(column) =>
          void navigate({
            search: ({ sort: _old, ...rest }) => {
              const next = writeSort(nextSort(sort, column as SortKey));
              return next === undefined ? rest : { ...rest, sort: next };
            },
            replace: true,
          })
        }
      />
      <BulkBar subjects={subjects} clear={selection.clear} disabledBecause={mayNot(who)} />
      <p role="status" className="flex items-center gap-3 text-sm text-muted">
        {keys.length.toLocaleString()} shown
        {older !== null && (
          <Button onClick={older.load} disabledBecause={older.isLoading ? "Older work is loading." : undefined}>
            Show older
          </Button>
        )}
      </p>
    </>
  );
}

function subjectsOf(items: readonly WorkItem[], keys: readonly string[]): readonly BulkSubject[] {
  const chosen = new Set(keys);
  return chosen.size === 0 ? [] : items.filter(({ id }) => chosen.has(id)).map(subjectOf);
}

function entriesOf(
  items: readonly WorkItem[],
  lane: string | undefined,
  sort: ReturnType<typeof readSort>,
  by: string | undefined,
): readonly TableEntry<WorkItem>[] {
  const shown = sortWork(isLane(lane) ? items.filter((item) => item.lane === lane) : items, sort);
  const rows = (own: readonly WorkItem[]) => own.map((row) => ({ is: "row" as const, key: row.id, row }));
  if (!isGrouping(by)) return rows(shown);
  return groupWork(shown, by).flatMap(({ name, items: own }): readonly TableEntry<WorkItem>[] => [
    { is: "group", key: `group ${name}`, name: <SafeText max={120}>{name}</SafeText>, count: own.length },
    ...rows(own),
  ]);
}
