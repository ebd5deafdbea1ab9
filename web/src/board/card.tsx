// The card of a ticket on the board: its stage and agent, its loops, and the reason why it waits.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { BlockedBy } from "../ticket/blocked-by.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { plain } from "../base/plain-text.ts";
import { Ago, duration } from "../ui/time.tsx";
import { costText, shortId, ticketOrigin, waitText } from "../ticket/ticket-facts.ts";
import { hasEnded, type ListedTicket } from "../ticket/listed-ticket.ts";
import type { MoveTicket } from "../ticket/move.ts";
import { TicketBadges } from "../ticket/ticket-badges.tsx";
import { WaitButtons } from "../ticket/wait-buttons.tsx";

export type CardProps = {
  readonly ticket: ListedTicket;
  readonly isSelected: boolean;
  readonly now: number;
  readonly onMove: MoveTicket;
};

export function Card({ ticket, isSelected, now, onMove }: CardProps): ReactNode {
  return (
    <article
      className={`relative flex flex-col gap-1.5 rounded-lg border bg-panel p-3 text-sm ${isSelected ? "border-active ring-1 ring-active" : "border-line"}`}
    >
      <div className="flex items-start justify-between gap-2">
        <h3 className="min-w-0 font-medium break-words">
          <Link
            to="/board"
            search={(old) => ({ ...old, ticket: ticket.id })}
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
      <p title={plain(ticket.id)} className="truncate font-mono text-xs text-muted">
        <SafeText max={80}>{shortId(ticket.id)}</SafeText> · {ticketOrigin(ticket)}
      </p>
      <TicketBadges ticket={ticket} now={now} />
      <Where ticket={ticket} />
      {ticket.file !== null && <BlockedBy file={ticket.file} />}
      <WaitButtons ticket={ticket} onMove={onMove} />
      <p className="flex flex-wrap gap-x-3 text-xs text-muted">
        {ticket.activeAt !== null && (
          <span title="Last activity">
            <Ago at={ticket.activeAt} />
          </span>
        )}
        {ticket.newest !== null && (
          <span title="Known cost of all its runs" className="tabular">
            cost {costText(ticket.cost)}
          </span>
        )}
        {ticket.createdAt !== null && !hasEnded(ticket) && (
          <span title="Age of its newest run" className="tabular">
            age {duration(Math.max(0, now - Date.parse(ticket.createdAt)))}
          </span>
        )}
      </p>
    </article>
  );
}

/** Agent and stage. */
function Where({ ticket }: { readonly ticket: ListedTicket }): ReactNode {
  const { agent, stage, why, status, state, waits, file } = ticket;
  if (agent !== null && state?.is === "working")
    return (
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
    );
  const own = status === "running" && state !== null && state.text !== "" ? state.text : why;
  const text = waits.length === 0 ? own : waits.map(waitText).join(", ");
  // The list of blocking tickets or the badge says more.
  if (text === null || (file !== null && (file.blockedBy.length > 0 || file.state === "eligible"))) return null;
  return (
    <p className="line-clamp-2 text-muted">
      <SafeText max={200}>{text}</SafeText>
    </p>
  );
}
