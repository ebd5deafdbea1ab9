// Where runs lose time: waiting for people, and work that is sent back.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { Panel } from "../ui/panel.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Cell, Row, Table } from "../ui/table.tsx";
import { duration } from "../ui/time.tsx";
import { FailureTable } from "./failures.tsx";

type Insights = AnswerTo<"insights">;

export function WaitsPanels({ data }: { readonly data: Insights }): ReactNode {
  const escalations = data.waits.filter(({ kind }) => kind === "escalation");
  return (
    <>
      <p className="text-xs text-muted">
        Based on {data.runs} {data.runs === 1 ? "run" : "runs"} started in this period
        {data.runs === data.most ? ` (the newest ${data.most})` : ""}.
      </p>
      <div className="grid grid-cols-1 gap-4 xl:grid-cols-2">
        <Panel title="Waiting for people">
          <Waits rows={data.waits.filter(({ kind }) => kind !== "escalation")} />
        </Panel>
        <Panel title="Loops">
          <Loops rows={data.loops} />
        </Panel>
        <Panel title={`Escalations: ${escalations.reduce((sum, { times }) => sum + times, 0)}`}>
          <Waits rows={escalations} />
        </Panel>
        <Panel title="Last failures">
          <FailureTable failures={data.failures} />
        </Panel>
      </div>
    </>
  );
}

function Waits({ rows }: { readonly rows: Insights["waits"] }): ReactNode {
  if (rows.length === 0) return <p className="text-sm text-muted">None in this period.</p>;
  return (
    <Table label="Waits" head={["What", "Times", "Open now", "Median", "Longest"]}>
      {rows.map(({ kind, flow, stage, times, open, medianMs, longestMs }) => (
        <Row key={`${kind} ${flow} ${stage}`}>
          <Cell of="What" head>
            {kind} {stage} <FlowLink flow={flow} />
          </Cell>
          <Cell of="Times" number>
            {times}
          </Cell>
          <Cell of="Open now" number>
            {open}
          </Cell>
          <Cell of="Median" number empty={medianMs === null}>
            {medianMs === null ? "—" : duration(medianMs)}
          </Cell>
          <Cell of="Longest" number empty={longestMs === null}>
            {longestMs === null ? "—" : duration(longestMs)}
          </Cell>
        </Row>
      ))}
    </Table>
  );
}

function Loops({ rows }: { readonly rows: Insights["loops"] }): ReactNode {
  if (rows.length === 0) return <p className="text-sm text-muted">No work was sent back in this period.</p>;
  const most = Math.max(...rows.map(({ loops }) => loops));
  return (
    <ul className="flex flex-col gap-2 text-sm">
      {rows.map(({ flow, stage, loops }) => (
        <li key={`${flow} ${stage}`} className="grid grid-cols-[1fr_auto] items-center gap-x-3">
          <span>
            {stage} sent work back <FlowLink flow={flow} />
          </span>
          <span className="tabular">{loops}×</span>
          <span aria-hidden="true" className="col-span-2 h-1.5 rounded bg-sunken">
            <span className="block h-full rounded bg-ink/70" style={{ width: `${(loops / most) * 100}%` }} />
          </span>
        </li>
      ))}
    </ul>
  );
}

function FlowLink({ flow }: { readonly flow: string }): ReactNode {
  return (
    <Link to="/flows/$flow" params={{ flow }} className="text-xs">
      <SafeText max={60}>{flow}</SafeText>
    </Link>
  );
}
