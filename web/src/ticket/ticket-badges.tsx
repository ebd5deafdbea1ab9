// Badges of a ticket: its status, its revision loops, a stalled agent, and those of its file.

import type { ReactNode } from "react";
import { plain } from "../base/plain-text.ts";
import { Badge, StatusBadge } from "../ui/status-badge.tsx";
import { FileBadges } from "./file-badges.tsx";
import type { ListedTicket } from "./listed-ticket.ts";
import type { ShownName } from "../base/status.ts";
import { isStalled, loopBadges, standingOf } from "./ticket-facts.ts";
import { Icon } from "../ui/icon.tsx";

type Props = {
  readonly ticket: ListedTicket;
  readonly now: number;
  /** If the caller knows more than the ticket says: whether its work has landed. */
  readonly is?: ShownName;
};

export function TicketBadges({ ticket, now, is = standingOf(ticket) }: Props): ReactNode {
  return (
    <div className="flex min-w-0 flex-wrap gap-1">
      <StatusBadge is={is} />
      {loopBadges(ticket).map(({ key, text, title, tone }) => (
        <Badge key={key} tone={tone} title={title}>
          <span aria-hidden="true" className="flex items-center gap-1">
            <Icon name="back" /> {plain(text, 60)}
          </span>
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
