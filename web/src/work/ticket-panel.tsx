// A ticket next to the board: its state, the reason why it waits, and its whole history.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { waitText } from "../../../src/core/view/wait-text.ts";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { ticketQuery } from "../base/queries.ts";
import { Button } from "../ui/button.tsx";
import { BlockedBy } from "../ticket/blocked-by.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Failure, Loading } from "../ui/states.tsx";
import { Ago, clock, useNow } from "../ui/time.tsx";
import type { MoveTicket } from "../ticket/move.ts";
import { WaitButtons } from "../ticket/wait-buttons.tsx";
import { TicketBadges } from "../ticket/ticket-badges.tsx";
import { costText } from "../ticket/ticket-facts.ts";
import { History } from "../ticket/history.tsx";
import { Icon } from "../ui/icon.tsx";

type Props = { readonly onMove: MoveTicket; readonly id: string; readonly close: () => void };

export function TicketPanel({ id, close, onMove }: Props): ReactNode {
  const { data, error, refetch } = useQuery(ticketQuery(id));
  const now = useNow(15_000);
  return (
    <aside
      aria-label="Ticket"
      className="flex flex-col gap-3 border-line bg-panel p-4 text-sm max-md:fixed max-md:inset-0 max-md:z-30 max-md:overflow-y-auto md:sticky md:top-6 md:max-h-[calc(100dvh-3rem)] md:w-96 md:shrink-0 md:self-start md:overflow-y-auto md:rounded-lg md:border"
    >
      <header className="flex items-start justify-between gap-2">
        <h2 className="min-w-0 text-base font-semibold break-words">
          {data === undefined ? <SafeText max={80}>{id}</SafeText> : <SafeText max={200}>{data.title}</SafeText>}
        </h2>
        <Button look="bare" onClick={close} keys="Esc">
          <Icon name="cross" />
          <span className="sr-only">Close</span>
        </Button>
      </header>
      {error !== null && <Failure error={error} retry={() => void refetch()} />}
      {data === undefined && error === null && <Loading what="the ticket" />}
      {data !== undefined && (
        <>
          <TicketBadges ticket={data} now={now} />
          <Facts ticket={data} />
          <WaitButtons ticket={data} onMove={onMove} />
          <div className="flex flex-wrap items-center gap-3">
            <Button onClick={() => onMove(data)} keys="m">
              Move
            </Button>
            <Link
              to="/tickets/$ticket"
              params={{ ticket: id }}
              className="inline-flex items-center pointer-coarse:min-h-11"
            >
              Ticket
            </Link>
            {data.newest !== null && (
              <Link
                to="/runs/$run"
                params={{ run: String(data.newest.number) }}
                className="inline-flex items-center pointer-coarse:min-h-11"
              >
                Run #{data.newest.number}
              </Link>
            )}
          </div>
          {data.file !== null && <BlockedBy file={data.file} />}
          {data.feature !== null && <History log={data.feature.pipeline_log} />}
        </>
      )}
    </aside>
  );
}

function Facts({ ticket }: { readonly ticket: AnswerTo<"showTicket"> }): ReactNode {
  // The panel lists the blocking tickets below, with links.
  const isBlocked = (ticket.file?.blockedBy.length ?? 0) > 0;
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1">
      <Fact name="Status">{ticket.word}</Fact>
      <Fact name="Agent">{ticket.agent ?? "none at work"}</Fact>
      <Fact name="Stage">{ticket.stage ?? "—"}</Fact>
      {ticket.waits.length > 0 ? (
        <Fact name="Waits for">{ticket.waits.map(waitText).join(", ")}</Fact>
      ) : (
        ticket.why !== null && !isBlocked && <Fact name="Why">{ticket.why}</Fact>
      )}
      {ticket.since !== null && (
        <>
          <dt className="text-muted">Since</dt>
          <dd>
            {clock(ticket.since)} · <Ago at={ticket.since} />
          </dd>
        </>
      )}
      {ticket.activeAt !== null && (
        <>
          <dt className="text-muted">Last activity</dt>
          <dd>
            <Ago at={ticket.activeAt} />
          </dd>
        </>
      )}
      {ticket.file !== null && <Fact name="File">{ticket.file.path}</Fact>}
      <Fact name="Cost">{costText(ticket.cost)}</Fact>
    </dl>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: string }): ReactNode {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd className="min-w-0 break-words">
        <SafeText max={1000}>{children}</SafeText>
      </dd>
    </>
  );
}
