// One ticket on the board: where it is, who works on it, how often it was sent back, what it waits for.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Badge, StatusBadge } from "../ui/status-badge.tsx";
import { choicesOf } from "../inbox/words.ts";
import { BlockedBy } from "../ticket/blocked-by.tsx";
import { FileBadges } from "../ticket/file-badges.tsx";
import { plain, SafeText } from "../ui/safe-text.tsx";
import { Ago, duration } from "../ui/time.tsx";
import { costText, isStalled, loopBadges, shortId, standingOf, ticketOrigin, waitText } from "./card-facts.ts";
import { hasEnded, type Ticket } from "./lanes.ts";
import type { Move } from "./move.ts";

export type CardProps = {
  readonly ticket: Ticket;
  readonly isSelected: boolean;
  readonly now: number;
  readonly onMove: (ticket: Ticket, move?: Move) => void;
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
      <CardBadges ticket={ticket} now={now} />
      <Where ticket={ticket} />
      {ticket.file !== null && <BlockedBy file={ticket.file} />}
      <WaitButtons ticket={ticket} onMove={onMove} />
      <p className="flex flex-wrap gap-x-3 text-xs text-muted">
        {ticket.activeAt !== null && (
          <span title="Last sign of life">
            <Ago at={ticket.activeAt} />
          </span>
        )}
        {ticket.newest !== null && (
          <span title="Cost of all its runs as far as it is known" className="tabular">
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

/** How it stands, its loops, and whether nobody has heard of its agent for too long. */
export function CardBadges({ ticket, now }: { readonly ticket: Ticket; readonly now: number }): ReactNode {
  return (
    <div className="flex flex-wrap gap-1">
      <StatusBadge is={standingOf(ticket)} />
      {loopBadges(ticket).map(({ key, text, title, tone }) => (
        <Badge key={key} tone={tone} title={title}>
          <span aria-hidden="true">↻ {plain(text, 60)}</span>
          <span className="sr-only">{plain(title, 80)}</span>
        </Badge>
      ))}
      {isStalled(ticket, now) && (
        <Badge tone="bad" title="No event and no word of its agent for more than five minutes">
          <span aria-hidden="true">!</span> Stalled
        </Badge>
      )}
      {ticket.file !== null && <FileBadges file={ticket.file} />}
    </div>
  );
}

/** Agent and stage. */
function Where({ ticket: { agent, stage, why, status, waits, file } }: { readonly ticket: Ticket }): ReactNode {
  if (agent !== null || (status === "running" && stage !== null))
    return (
      <p className="min-w-0 truncate">
        <strong className="font-medium">{agent === null ? "In line" : <SafeText max={60}>{agent}</SafeText>}</strong>
        {stage !== null && (
          <span className="text-muted">
            {" "}
            at <SafeText max={60}>{stage}</SafeText>
          </span>
        )}
      </p>
    );
  const text = waits.length === 0 ? why : waits.map(waitText).join(", ");
  // Said more exactly below, or by the badge.
  if (text === null || (file !== null && (file.blockedBy.length > 0 || file.state === "eligible"))) return null;
  return (
    <p className="line-clamp-2 text-muted">
      <SafeText max={200}>{text}</SafeText>
    </p>
  );
}

/** The answers that a person can give here. A text is asked for on the decision's own page. */
export function WaitButtons({ ticket, onMove }: Pick<CardProps, "ticket" | "onMove">): ReactNode {
  if (ticket.waits.length === 0) return null;
  return (
    <div className="relative z-10 flex flex-wrap gap-1.5">
      {ticket.waits.map((item) =>
        item.answers.length === 0 ? (
          <Link key={item.id} to="/g/$item" params={{ item: item.id }} className={`${SMALL} ${FIRST}`}>
            Answer
          </Link>
        ) : (
          choicesOf({ ...item, leads: [] }).map((choice) => (
            <button
              key={`${item.id} ${choice.answer}`}
              type="button"
              onClick={() => onMove(ticket, { kind: "answer", item: item.id, choice })}
              className={`${SMALL} ${choice.look === "primary" ? FIRST : OTHER}`}
            >
              <SafeText max={60}>{choice.label}</SafeText>
            </button>
          ))
        ),
      )}
    </div>
  );
}

const SMALL =
  "inline-flex min-h-7 cursor-pointer items-center rounded-md border bg-panel px-2 text-xs font-medium no-underline hover:bg-sunken pointer-coarse:min-h-11 pointer-coarse:px-3";
const FIRST = "border-active text-active";
const OTHER = "border-line text-ink";
