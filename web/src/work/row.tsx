// One piece of work in the list: its title, its state and why; as a card on a narrow screen.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { waitText } from "../../../src/core/view/wait-text.ts";
import { plain } from "../base/plain-text.ts";
import { BlockedBy } from "../ticket/blocked-by.tsx";
import { TicketBadges } from "../ticket/ticket-badges.tsx";
import { costText, isDrawn } from "../ticket/ticket-facts.ts";
import { SafeText } from "../ui/safe-text.tsx";
import { Ago } from "../ui/time.tsx";
import type { WorkItem } from "./item.ts";
import { tip } from "../ui/tip.ts";

/** A ticket leads to its page; an ad-hoc run has nothing but its run. */
export function Title({ item: { ticket } }: { readonly item: WorkItem }): ReactNode {
  const run = ticket.newest;
  const look = { "data-row": ticket.id, className: LINK };
  const title = <SafeText max={200}>{ticket.title}</SafeText>;
  return (
    <div className="min-w-0">
      {ticket.file === null && run !== null ? (
        <Link to="/runs/$run" params={{ run: String(run.number) }} {...look}>
          {title}
        </Link>
      ) : (
        <Link to="/tickets/$ticket" params={{ ticket: ticket.id }} {...look}>
          {title}
        </Link>
      )}
      <p className="flex gap-1.5 truncate text-xs text-muted">
        {!isDrawn(ticket.id) && (
          <span className="truncate font-mono" {...tip(plain(ticket.id))}>
            <SafeText max={80}>{ticket.id}</SafeText>
          </span>
        )}
        {ticket.file !== null && <span className="shrink-0">· {plain(ticket.file.request, 20)}</span>}
        {run !== null && (
          <span className="shrink-0">
            {!isDrawn(ticket.id) && "· "}run #{run.number}
            {ticket.runs > 1 && ` of ${ticket.runs}`}
          </span>
        )}
      </p>
    </div>
  );
}

const LINK =
  "block truncate font-medium text-ink no-underline hover:underline pointer-coarse:min-h-11 pointer-coarse:leading-[2.75rem]";

type StateProps = {
  readonly item: WorkItem;
  /** The last words of its agent. */
  readonly line: string | undefined;
  readonly now: number;
};

export function State({ item, line, now }: StateProps): ReactNode {
  return (
    <div className="flex min-w-0 flex-col items-start gap-0.5">
      <TicketBadges ticket={item.ticket} is={item.is} now={now} />
      <Why item={item} line={line} />
    </div>
  );
}

/** Why it does not move on, or what its agent said last. */
function Why({ item: { ticket, end }, line }: Omit<StateProps, "now">): ReactNode {
  if (ticket.file !== null && ticket.file.blockedBy.length > 0)
    return (
      <div className="w-full truncate">
        <BlockedBy file={ticket.file} />
      </div>
    );
  const text = reasonOf(ticket, end?.text, line);
  if (text === "") return null;
  return (
    <span {...tip(plain(text))} className="w-full truncate text-xs text-muted">
      <SafeText max={300}>{text}</SafeText>
    </span>
  );
}

export function reasonOf(ticket: WorkItem["ticket"], end: string | undefined, line: string | undefined): string {
  const { state, waits, why, file, status } = ticket;
  if (state?.is === "working" && line !== undefined) return line;
  if (waits.length > 0) return waits.map(waitText).join(", ");
  if (end !== undefined && status !== "running") return end;
  if (status === "running" && state !== null && state.text !== "") return state.text;
  if (file !== null && (file.state === "eligible" || file.state === "ended")) return "";
  return why ?? file?.why ?? "";
}

export function WorkCard({ item, line, now }: StateProps): ReactNode {
  const { ticket } = item;
  return (
    <div className="flex min-w-0 flex-col gap-1">
      <Title item={item} />
      <State item={item} line={line} now={now} />
      <p className="flex flex-wrap gap-x-3 text-xs text-muted">
        <span>
          <SafeText max={60}>{ticket.flow}</SafeText>
        </span>
        <span>
          <SafeText max={60}>{ticket.word}</SafeText>
        </span>
        {ticket.agent !== null && (
          <span>
            <SafeText max={60}>{ticket.agent}</SafeText>
          </span>
        )}
        {ticket.newest !== null && <span className="tabular">{costText(ticket.cost)}</span>}
        {ticket.activeAt !== null && <Ago at={ticket.activeAt} />}
      </p>
    </div>
  );
}
