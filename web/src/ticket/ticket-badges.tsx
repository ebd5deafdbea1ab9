// Badges of a ticket: its status, its revision loops, a stalled agent, and those of its file.

import type { ReactNode } from "react";
import { plain } from "../base/plain-text.ts";
import { Badge, StatusBadge } from "../ui/status-badge.tsx";
import { FileBadges } from "./file-badges.tsx";
import type { ListedTicket } from "./listed-ticket.ts";
import { isStalled, loopBadges, standingOf } from "./ticket-facts.ts";

export function TicketBadges({ ticket, now }: { readonly ticket: ListedTicket; readonly now: number }): ReactNode {
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
        <Badge tone="bad" title="No event and no output from its agent for more than five minutes">
          <span aria-hidden="true">!</span> Stalled
        </Badge>
      )}
      {ticket.file !== null && <FileBadges file={ticket.file} />}
    </div>
  );
}
