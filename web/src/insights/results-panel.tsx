// The results of the work: passed at the first try, landed, cost per landed ticket with its n, loops; and the tickets by cost.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { Panel } from "../ui/panel.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Cell, Row, Table } from "../ui/table.tsx";
import { usd } from "../ui/time.tsx";
import type { Picked } from "./picked.ts";

type ShownResults = AnswerTo<"insights">["results"];

export function ResultNumbers({ results }: { readonly results: ShownResults }): ReactNode {
  const { firstPass, landed, loopsPerRun } = results;
  const rate = firstPass.of === 0 ? "—" : `${Math.round((firstPass.passed / firstPass.of) * 100)} %`;
  const unknown = landed.tickets - landed.known;
  return (
    <dl className="grid grid-cols-2 gap-4 lg:grid-cols-4">
      <Figure name="Passed at the first try" value={rate} pick="first=yes">
        {firstPass.passed} of {firstPass.of} completed runs
      </Figure>
      <Figure name="Tickets landed" value={String(landed.tickets)} pick="landed=">
        their work is in the target branch
      </Figure>
      <Figure name="Cost per landed ticket" value={usd(landed.usdPerTicket)} pick="landed=">
        {landed.known === 0 ? "no landed ticket with a known cost" : `mean, n = ${landed.known}`}
        {unknown > 0 && landed.known > 0 && `; ${unknown} more with unknown cost`}
      </Figure>
      <Figure name="Loops per ended run" value={loopsPerRun === null ? "—" : loopsPerRun.toFixed(1)} pick="looped=">
        how often work was sent back
      </Figure>
    </dl>
  );
}

type FigureProps = {
  readonly name: string;
  readonly value: string;
  readonly pick: string;
  readonly children: ReactNode;
};

function Figure({ name, value, pick, children }: FigureProps): ReactNode {
  return (
    <div className="flex min-w-0 flex-col">
      <dt className="text-xs text-muted">{name}</dt>
      <dd className="text-xl font-semibold tabular">
        {value === "—" || value === "0" ? value : <PickLink pick={pick}>{value}</PickLink>}
        <span className="block text-xs font-normal text-muted">{children}</span>
      </dd>
    </div>
  );
}

/** To the runs behind a number. */
export function PickLink({ pick, children }: { readonly pick: string; readonly children: ReactNode }): ReactNode {
  return (
    <Link
      to="/insights"
      search={(before: Readonly<Record<string, string>>) => ({ ...before, pick })}
      hash="runs"
      className="text-ink underline decoration-line underline-offset-4 hover:decoration-current"
    >
      {children}
    </Link>
  );
}

const SHOWN = 50;

/** Called "Runs behind it", with the address that picked them. */
export function PickedRuns({ picked }: { readonly picked: Picked }): ReactNode {
  return (
    <div id="runs" className="scroll-mt-4">
      <Panel
        title={<SafeText max={120}>{`${picked.title}: ${picked.runs.length}`}</SafeText>}
        actions={
          <Link
            to="/insights"
            search={({ pick: _pick, ...before }: Readonly<Record<string, string>>) => before}
            className="text-sm"
          >
            Close
          </Link>
        }
      >
        {picked.runs.length === 0 ? (
          <p className="text-sm text-muted">None among the newest runs of this period.</p>
        ) : (
          <Table label="Runs behind the number" head={["Run", "State", "Cost", "Loops"]}>
            {picked.runs.slice(0, SHOWN).map(({ id, number, title, status, landed, usd: cost, unknownUsd, loops }) => (
              <Row key={id}>
                <Cell of="Run" head>
                  <Link to="/runs/$run" params={{ run: String(number) }}>
                    #{number} <SafeText max={120}>{title}</SafeText>
                  </Link>
                </Cell>
                <Cell of="State">{landed ? "landed" : status}</Cell>
                <Cell of="Cost" number>
                  {usd(cost)}
                  {cost !== null && unknownUsd > 0 && ` + ${unknownUsd} unknown`}
                </Cell>
                <Cell of="Loops" number>
                  {loops}
                </Cell>
              </Row>
            ))}
          </Table>
        )}
        {picked.runs.length > SHOWN && (
          <p className="mt-2 text-xs text-muted">
            The newest {SHOWN} of {picked.runs.length}.
          </p>
        )}
      </Panel>
    </div>
  );
}

const TICKETS = 20;

export function TicketCosts({ tickets }: { readonly tickets: ShownResults["tickets"] }): ReactNode {
  if (tickets.length === 0) return <p className="text-sm text-muted">No ticket in this period.</p>;
  return (
    <Table label="Cost by ticket" head={["Ticket", "Cost", "Runs", "Loops", "Landed"]}>
      {tickets.slice(0, TICKETS).map(({ ticket, title, runs, landed, usd: cost, unknownUsd, loops }) => (
        <Row key={ticket}>
          <Cell of="Ticket" head>
            <Link to="/tickets/$ticket" params={{ ticket }}>
              <SafeText max={120}>{title}</SafeText>
            </Link>
          </Cell>
          <Cell of="Cost" number>
            {usd(cost)}
            {cost !== null && unknownUsd > 0 && ` + ${unknownUsd} unknown`}
          </Cell>
          <Cell of="Runs" number>
            <PickLink pick={`ticket=${ticket}`}>{runs.length}</PickLink>
          </Cell>
          <Cell of="Loops" number>
            {loops}
          </Cell>
          <Cell of="Landed">{landed ? "yes" : "no"}</Cell>
        </Row>
      ))}
    </Table>
  );
}
