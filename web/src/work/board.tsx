// The work as a board. Cards move as events arrive; a person moves a card through its menu, or by dragging it where that is allowed.

import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactNode, useMemo, useState } from "react";
import { holdBatch } from "../bulk/batch.ts";
import { plain } from "../base/plain-text.ts";
import { flowQuery } from "../base/queries.ts";
import { groupWork, isGrouping } from "./arrange.ts";
import { type BoardLane, firstOfInterest, stateLanes, wordLanes } from "./board-lanes.ts";
import { BoardRow } from "./board-row.tsx";
import { dropOf } from "./drops.ts";
import type { WorkItem } from "./item.ts";
import type { ListedTicket } from "../ticket/listed-ticket.ts";
import type { Move } from "../ticket/move.ts";
import { MoveDialog } from "../ticket/move-dialog.tsx";
import { Button } from "../ui/button.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Failure, Loading } from "../ui/states.tsx";
import { useNow } from "../ui/time.tsx";
import { Pick } from "./pick.tsx";
import type { Older } from "./queries.ts";
import { TicketPanel } from "./ticket-panel.tsx";
import { useBoardKeys, useSelectedInView } from "./use-board-keys.ts";

type Moving = { readonly ticket: ListedTicket; readonly first: Move | undefined };

export function Board({ items, older }: { readonly items: readonly WorkItem[]; readonly older: Older }): ReactNode {
  const { ticket: selected, lane, by } = useSearch({ from: "/work" });
  const navigate = useNavigate({ from: "/work" });
  const now = useNow(15_000);
  const [moving, setMoving] = useState<Moving | null>(null);
  const [dragged, setDragged] = useState<WorkItem | null>(null);
  const { lanesFor, error, retry } = useLanes();
  const groups = useMemo(
    () => (isGrouping(by) && by !== "state" ? groupWork(items, by) : [{ name: "", items }]),
    [items, by],
  );
  const all = useMemo(() => lanesFor?.(items) ?? [], [lanesFor, items]);
  const picked = all.find(({ key }) => key === lane) ?? firstOfInterest(all);
  const onMove = (ticket: ListedTicket, first?: Move): void => setMoving({ ticket, first });
  useBoardKeys(items, selected, onMove);
  useSelectedInView(selected);
  const drop = (target: BoardLane): void => {
    const found = dragged === null ? null : dropOf(dragged, target);
    setDragged(null);
    if (dragged === null || found?.is !== "legal") return;
    const { number } = dragged.ticket.newest ?? { number: undefined };
    const name = number === undefined ? dragged.id : `#${number}`;
    holdBatch(found.does, "", [{ title: plain(dragged.ticket.title, 80), name, deed: found.deed }]);
  };
  if (lanesFor === undefined)
    return error === null ? <Loading what="the lanes" /> : <Failure error={error} retry={retry} />;
  return (
    <div className="flex gap-4">
      <div className="flex min-w-0 flex-1 flex-col gap-3">
        <div className="md:hidden">
          <Pick
            label="Lane"
            value={picked?.key ?? ""}
            options={all.map(({ key, word, items: held }) => [key, `${word} (${held.length})`])}
            pick={(key) => void navigate({ search: (old) => ({ ...old, lane: key }), replace: true })}
          />
        </div>
        {groups.map((group) => (
          <section key={group.name} {...(group.name === "" ? {} : { "aria-label": plain(group.name, 80) })}>
            {group.name !== "" && (
              <h2 className="mb-1.5 truncate text-base font-semibold">
                <SafeText max={120}>{group.name}</SafeText>{" "}
                <span className="tabular font-normal text-muted">{group.items.length}</span>
              </h2>
            )}
            <BoardRow
              lanes={lanesFor(group.items)}
              isTall={groups.length === 1}
              level={group.name === "" ? 2 : 3}
              selected={selected}
              picked={picked?.key}
              now={now}
              onMove={onMove}
              dragged={dragged}
              drag={setDragged}
              drop={drop}
            />
          </section>
        ))}
        {older !== null && (
          <p>
            <Button onClick={older.load} disabledBecause={older.isLoading ? "Older work is loading." : undefined}>
              Show older
            </Button>
          </p>
        )}
      </div>
      {selected !== undefined && (
        <TicketPanel
          key={selected}
          id={selected}
          onMove={onMove}
          close={() => void navigate({ search: ({ ticket: _shown, ...old }) => old })}
        />
      )}
      {moving !== null && <MoveDialog ticket={moving.ticket} first={moving.first} close={() => setMoving(null)} />}
    </div>
  );
}

/** By state, or by the words of the flow that the address names; undefined until they are known. */
function useLanes(): {
  readonly lanesFor: ((items: readonly WorkItem[]) => readonly BoardLane[]) | undefined;
  readonly error: unknown;
  readonly retry: () => void;
} {
  const { flow, lanes } = useSearch({ from: "/work" });
  const isByWord = flow !== undefined && lanes === "words";
  const { data, error, refetch } = useQuery({ ...flowQuery(flow ?? ""), enabled: isByWord });
  const statuses = data?.statuses;
  const lanesFor = useMemo(() => {
    if (!isByWord) return stateLanes;
    return statuses === undefined ? undefined : (items: readonly WorkItem[]) => wordLanes(statuses, items);
  }, [isByWord, statuses]);
  return { lanesFor, error, retry: () => void refetch() };
}
