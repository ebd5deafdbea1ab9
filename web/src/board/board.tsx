// The lanes of one flow. Cards move as events arrive; a person moves a card through its menu.

import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { type ReactNode, useEffect, useMemo, useRef, useState } from "react";
import { useShortcuts } from "../base/keyboard.ts";
import { flowQuery } from "../base/queries.ts";
import { Empty, Failure, Loading } from "../ui/states.tsx";
import { useNow } from "../ui/time.tsx";
import { boardQuery } from "./board-query.ts";
import { Lane } from "./lane.tsx";
import { type BoardLane, lanesOf } from "./lanes.ts";
import { type ListedTicket } from "../ticket/listed-ticket.ts";
import type { Move } from "../ticket/move.ts";
import { MoveDialog } from "../ticket/move-dialog.tsx";
import { TicketPanel } from "./ticket-panel.tsx";

type Props = { readonly flow: string; readonly ticket: string | undefined; readonly lane: string | undefined };
type Moving = { readonly ticket: ListedTicket; readonly first: Move | undefined };

export function Board({ flow, ticket: selected, lane }: Props): ReactNode {
  const shape = useQuery(flowQuery(flow));
  const board = useQuery(boardQuery(flow));
  const navigate = useNavigate({ from: "/board" });
  const now = useNow(15_000);
  const [moving, setMoving] = useState<Moving | null>(null);
  const tickets = board.data?.tickets;
  const statuses = shape.data?.statuses;
  const lanes = useMemo(() => lanesOf(statuses ?? [], tickets ?? []), [statuses, tickets]);
  const move = (ticket: ListedTicket): void => setMoving({ ticket, first: undefined });
  useBoardShortcuts(tickets, selected, move);
  useSelectedInView(selected, tickets !== undefined);
  const error = shape.error ?? board.error;
  if (error !== null && board.data === undefined)
    return (
      <Failure
        error={error}
        retry={() => {
          void shape.refetch();
          void board.refetch();
        }}
      />
    );
  if (tickets === undefined || statuses === undefined) return <Loading what="the board" />;
  const onMove = (ticket: ListedTicket, first?: Move): void => setMoving({ ticket, first });
  const picked = lanes.find(({ word }) => word === lane) ?? firstOfInterest(lanes);
  return (
    <div className="flex gap-4">
      <div className="flex min-w-0 flex-1 flex-col gap-3">
        {tickets.length === 0 && <NoTicketsHere flow={flow} />}
        {board.data?.isCut === true && (
          <p role="status" className="text-sm text-muted">
            Only the newest {tickets.length} tickets are shown.
          </p>
        )}
        <LanePicker lanes={lanes} picked={picked} />
        <div
          role="group"
          aria-label="Lanes"
          tabIndex={-1}
          className="relative flex items-start gap-2 md:overflow-x-auto md:pb-2"
        >
          {lanes.map((each) => (
            <Lane
              key={each.word}
              lane={each}
              selected={selected}
              isPicked={each === picked}
              now={now}
              onMove={onMove}
            />
          ))}
        </div>
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

function NoTicketsHere({ flow }: { readonly flow: string }): ReactNode {
  return (
    <Empty title="No tickets in this flow.">
      <p>
        Start one: <code className="font-mono text-ink">passrail run {flow} "what to do"</code>, or{" "}
        <Link to="/tickets" search={{ new: "1" }}>
          create a ticket
        </Link>
        .
      </p>
    </Empty>
  );
}

/** On a phone one lane fills the screen. */
function LanePicker({
  lanes,
  picked,
}: {
  readonly lanes: readonly BoardLane[];
  readonly picked: BoardLane | undefined;
}): ReactNode {
  const navigate = useNavigate({ from: "/board" });
  return (
    <label className="flex flex-col gap-1 text-sm font-medium md:hidden">
      Lane
      <select
        value={picked?.word ?? ""}
        onChange={(event) => void navigate({ search: (old) => ({ ...old, lane: event.target.value }) })}
        className="min-h-11 rounded-md border border-line bg-panel px-2"
      >
        {lanes.map(({ word, tickets: held }) => (
          <option key={word} value={word}>
            {word} ({held.length})
          </option>
        ))}
      </select>
    </label>
  );
}

function useBoardShortcuts(
  tickets: readonly ListedTicket[] | undefined,
  selected: string | undefined,
  move: (ticket: ListedTicket) => void,
): void {
  const navigate = useNavigate({ from: "/board" });
  const latest = useRef(move);
  latest.current = move;
  const shortcuts = useMemo(() => {
    const close = (): void => {
      // An open dialog handles the key itself.
      if (document.querySelector("[role=dialog]") === null)
        void navigate({ search: ({ ticket: _shown, ...old }) => old });
    };
    const moveFocused = (): void => {
      const id = focusedCard() ?? selected;
      const ticket = tickets?.find((each) => each.id === id);
      if (ticket !== undefined) latest.current(ticket);
    };
    return [
      { keys: "j", does: "Next card", group: "Board", act: () => step(1) },
      { keys: "k", does: "Previous card", group: "Board", act: () => step(-1) },
      { keys: "m", does: "Move the card", group: "Board", act: moveFocused },
      ...(selected === undefined ? [] : [{ keys: "Escape", does: "Close the ticket", group: "Board", act: close }]),
    ];
  }, [navigate, selected, tickets]);
  useShortcuts(shortcuts);
}

/** The panel takes room from the lanes: keeps the card that it shows in view. */
function useSelectedInView(selected: string | undefined, isShown: boolean): void {
  useEffect(() => {
    const card = isShown ? cards().find((each) => each.dataset["card"] === selected) : undefined;
    card?.closest("article")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [selected, isShown]);
}

/** The lane that a phone shows first: one that needs a person, else one with tickets. */
function firstOfInterest(lanes: readonly BoardLane[]): BoardLane | undefined {
  return (
    lanes.find(({ tickets }) => tickets.some(({ waits }) => waits.length > 0)) ??
    lanes.find(({ tickets }) => tickets.length > 0) ??
    lanes[0]
  );
}

function cards(): readonly HTMLElement[] {
  return [...document.querySelectorAll<HTMLElement>("[data-card]")].filter((card) => card.offsetParent !== null);
}

function focusedCard(): string | undefined {
  return document.activeElement?.closest("article")?.querySelector<HTMLElement>("[data-card]")?.dataset["card"];
}

/** Focuses the next card in the order of the lanes. */
function step(by: 1 | -1): void {
  const all = cards();
  const id = focusedCard();
  const at = all.findIndex((card) => card.dataset["card"] === id);
  const next = at === -1 ? all[0] : all[at + by];
  next?.focus();
  next?.scrollIntoView({ block: "nearest", inline: "nearest" });
}
