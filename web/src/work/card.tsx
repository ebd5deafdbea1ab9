// The card of a piece of work on the board: its stage and agent, its loops, and the reason why it waits.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { BlockedBy } from "../ticket/blocked-by.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { plain } from "../base/plain-text.ts";
import { Ago, duration } from "../ui/time.tsx";
import { costText, isDrawn, ticketOrigin } from "../ticket/ticket-facts.ts";
import { hasEnded } from "../ticket/listed-ticket.ts";
import type { MoveTicket } from "../ticket/move.ts";
import { TicketBadges } from "../ticket/ticket-badges.tsx";
import { WaitButtons } from "../ticket/wait-buttons.tsx";
import type { WorkItem } from "./item.ts";
import { useLastLines } from "./last-lines.ts";
import { reasonOf } from "./row.tsx";
import { tip } from "../ui/tip.ts";

type CardProps = {
  readonly item: WorkItem;
  readonly isSelected: boolean;
  /** Whether the flow's own word is shown; a lane of that word says it already. */
  readonly hasWord: boolean;
  readonly now: number;
  readonly onMove: MoveTicket;
  /** The card that a person drags; null when it is let go. */
  readonly drag: (item: WorkItem | null) => void;
};

export function Card({ item, isSelected, hasWord, now, onMove, drag }: CardProps): ReactNode {
  const { ticket, is } = item;
  return (
    <article
      draggable
      onDragStart={({ dataTransfer }) => {
        dataTransfer.effectAllowed = "move";
        dataTransfer.setData("text/plain", ticket.id);
        // Lanes that grow at once would end the drag in some browsers.
        requestAnimationFrame(() => drag(item));
      }}
      onDragEnd={() => drag(null)}
      className={`relative flex flex-col gap-1.5 rounded-lg border bg-panel p-3 text-sm ${isSelected ? "border-ink ring-1 ring-ink" : "border-line"}`}
    >
      <div className="flex items-start justify-between gap-2">
        <h3 className="line-clamp-3 min-w-0 font-medium [overflow-wrap:anywhere]">
          <Link
            to="/work"
            search={(old) => ({ ...old, ticket: ticket.id })}
            // The card is what is dragged, not its address.
            draggable={false}
            data-card={ticket.id}
            {...(isSelected ? { "aria-current": "true" as const } : {})}
            className="text-ink no-underline after:absolute after:inset-0 after:rounded-lg hover:underline"
          >
            <SafeText max={200}>{ticket.title}</SafeText>
          </Link>
        </h3>
        <button
          type="button"
          aria-label={`Move ${plain(ticket.id, 40)}`}
          aria-keyshortcuts="m"
          onClick={() => onMove(ticket)}
          className="relative z-10 -mt-1 -mr-1.5 min-h-7 min-w-7 shrink-0 cursor-pointer rounded-md text-muted hover:bg-sunken pointer-coarse:-mt-2.5 pointer-coarse:-mr-2.5 pointer-coarse:-mb-2 pointer-coarse:min-h-11 pointer-coarse:min-w-11"
        >
          <span aria-hidden="true">⋯</span>
        </button>
      </div>
      {!isDrawn(ticket.id) && (
        <p {...tip(plain(ticket.id))} className="truncate font-mono text-xs text-muted">
          <SafeText max={80}>{ticket.id}</SafeText>
        </p>
      )}
      <p className="truncate text-xs text-muted">
        {ticketOrigin(ticket)} · <SafeText max={60}>{ticket.flow}</SafeText>
        {hasWord && (
          <>
            {" · "}
            <SafeText max={80}>{ticket.word}</SafeText>
          </>
        )}
      </p>
      <TicketBadges ticket={ticket} is={is} now={now} />
      <Where item={item} />
      {ticket.file !== null && <BlockedBy file={ticket.file} />}
      <WaitButtons ticket={ticket} onMove={onMove} />
      <p className="flex flex-wrap gap-x-3 text-xs text-muted">
        {ticket.activeAt !== null && (
          <span {...tip("Last activity")}>
            <Ago at={ticket.activeAt} />
          </span>
        )}
        {ticket.newest !== null && ticket.cost.usd > 0 && (
          <span {...tip("Known cost of all its runs")} className="tabular">
            {costText(ticket.cost)}
          </span>
        )}
        {ticket.createdAt !== null && !hasEnded(ticket) && (
          <span {...tip("Age of its newest run")} className="tabular">
            age {duration(Math.max(0, now - Date.parse(ticket.createdAt)))}
          </span>
        )}
      </p>
    </article>
  );
}

/** Agent and stage, or the reason why it waits; the flow's own word beside it. */
function Where({ item: { ticket, end } }: { readonly item: WorkItem }): ReactNode {
  const { agent, stage, state, file } = ticket;
  const line = useLastLines().get(ticket.newest?.id ?? "");
  if (agent !== null && state?.is === "working")
    return (
      <>
        <p className="min-w-0 truncate">
          <strong className="font-medium">
            <SafeText max={60}>{agent}</SafeText>
          </strong>
          {stage !== null && (
            <span className="text-muted">
              {" "}
              at <SafeText max={60}>{stage}</SafeText>
            </span>
          )}
        </p>
        {line !== undefined && (
          <p className="truncate text-xs text-muted">
            <SafeText max={200}>{line}</SafeText>
          </p>
        )}
      </>
    );
  const text = reasonOf(ticket, end?.text, undefined);
  // The list of blocking tickets says more.
  if (text === "" || (file !== null && file.blockedBy.length > 0)) return null;
  return (
    <p className="line-clamp-2 text-muted [overflow-wrap:anywhere]">
      <SafeText max={200}>{text}</SafeText>
    </p>
  );
}
