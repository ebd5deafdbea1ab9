// The audit log: acts and refusals with their actors, newest first. Only the rows in view are drawn.

import { useInfiniteQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useRef } from "react";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { call } from "../base/api.ts";
import { Button } from "../ui/button.tsx";
import { Panel } from "../ui/panel.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Failure, Loading } from "../ui/states.tsx";
import { Badge } from "../ui/status-badge.tsx";
import { clock } from "../ui/time.tsx";
import { Icon } from "../ui/icon.tsx";

type Entry = AnswerTo<"listAudit">["entries"][number];
const ROW_PX = 64;

export function AuditList(): ReactNode {
  const pages = useInfiniteQuery({
    queryKey: ["audit"],
    queryFn: ({ pageParam, signal }) =>
      call("listAudit", { query: { limit: 100, ...(pageParam === null ? {} : { before: pageParam }) } }, { signal }),
    initialPageParam: null as number | null,
    getNextPageParam: ({ next }) => next,
  });
  const entries = pages.data?.pages.flatMap((page) => page.entries) ?? [];
  return (
    <Panel title="Audit">
      {pages.error !== null ? (
        <Failure error={pages.error} retry={() => void pages.refetch()} />
      ) : pages.data === undefined ? (
        <Loading what="the audit" />
      ) : (
        <div className="flex flex-col gap-3 [&>span]:self-start">
          <Entries entries={entries} />
          <Button
            onClick={() => void pages.fetchNextPage()}
            disabledBecause={
              pages.hasNextPage
                ? pages.isFetchingNextPage
                  ? "Older entries are loading."
                  : undefined
                : "There are no older entries."
            }
          >
            Older
          </Button>
        </div>
      )}
    </Panel>
  );
}

function Entries({ entries }: { readonly entries: readonly Entry[] }): ReactNode {
  const box = useRef<HTMLUListElement>(null);
  const rows = useVirtualizer({
    count: entries.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW_PX,
    overscan: 8,
  });
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reachable by keyboard.
    <ul ref={box} aria-label="Entries, newest first" tabIndex={0} className="max-h-[32rem] overflow-auto">
      <li aria-hidden="true" style={{ height: rows.getVirtualItems()[0]?.start ?? 0 }} />
      {rows.getVirtualItems().map(({ index, key }) => {
        const entry = entries[index];
        return entry === undefined ? null : <EntryRow key={key} entry={entry} />;
      })}
      <li aria-hidden="true" style={{ height: rows.getTotalSize() - (rows.getVirtualItems().at(-1)?.end ?? 0) }} />
    </ul>
  );
}

function EntryRow({
  entry: { at, type, what, who, from, status, code, leftOut },
}: {
  readonly entry: Entry;
}): ReactNode {
  const isBad = code !== null || type === "auth.failed" || type === "request.refused";
  return (
    <li className="flex h-16 flex-col justify-center gap-0.5 overflow-hidden border-b border-line text-sm">
      <span className="flex min-w-0 items-center gap-2">
        <Badge tone={isBad ? "bad" : "quiet"}>
          {isBad && <Icon name="cross" className="mr-1 inline" />}
          {type}
        </Badge>
        <span className="min-w-0 flex-1 truncate font-mono text-xs">
          <SafeText max={300}>{what}</SafeText>
        </span>
        <span className="tabular shrink-0 text-xs text-muted">{status ?? ""}</span>
      </span>
      <span className="truncate text-xs text-muted">
        <time dateTime={at}>{clock(at)}</time> · <SafeText max={100}>{who ?? "unknown"}</SafeText> ·{" "}
        <SafeText max={120}>{from}</SafeText>
        {code !== null && ` · ${code}`}
        {leftOut > 0 && ` · ${leftOut} similar entries left out`}
      </span>
    </li>
  );
}
