// The list of flows with the results of their runs.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useState } from "react";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { flowQuery, flowsQuery } from "../base/queries.ts";
import { LastRuns } from "./last-runs.tsx";
import { flowStatsQuery } from "./queries.ts";
import { successOf } from "./success.ts";
import { Button } from "../ui/button.tsx";
import { CopyLine } from "../ui/copy-line.tsx";
import { PageHead, Panel } from "../ui/panel.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Empty, Failure, Loading } from "../ui/states.tsx";
import { Badge } from "../ui/status-badge.tsx";
import { Cell, Row, Table } from "../ui/table.tsx";
import { duration, usd } from "../ui/time.tsx";
import { Icon } from "../ui/icon.tsx";
import { tip } from "../ui/tip.ts";

const StartRun = lazy(async () => ({ default: (await import("../run/start-run.tsx")).StartRun }));

const HEAD = ["Flow", "Success", "Median time", "Median cost", "Loops", "Last runs", "Start"] as const;

export function FlowsPage(): ReactNode {
  const { data, error, refetch } = useQuery(flowsQuery);
  const [started, start] = useState<string | null>(null);
  return (
    <>
      <PageHead title="Flows" />
      {error !== null ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <Loading what="flows" />
      ) : data.flows.length === 0 ? (
        <Empty title="No flows yet.">
          <p>A flow is a YAML file in .passrail/flows of your repository.</p>
        </Empty>
      ) : (
        <Panel title={`${data.flows.length} flows`} actions={<CopyLine>passrail flow list</CopyLine>}>
          <Table label="Flows" head={HEAD}>
            {data.flows.map((flow) => (
              <FlowRow key={flow.name} flow={flow} start={() => start(flow.name)} />
            ))}
          </Table>
        </Panel>
      )}
      <Suspense>{started !== null && <StartRun flow={started} close={() => start(null)} />}</Suspense>
    </>
  );
}

type Listed = AnswerTo<"listFlows">["flows"][number];

type FlowRowProps = { readonly flow: Listed; readonly start: () => void };

function FlowRow({ flow: { name, title, origin }, start }: FlowRowProps): ReactNode {
  const stats = useQuery(flowStatsQuery(name)).data;
  const flow = useQuery(flowQuery(name));
  const success = stats === undefined ? undefined : successOf(stats);
  return (
    <Row>
      <Cell of="Flow" head>
        <span className="flex flex-col gap-1">
          <Link to="/flows/$flow" params={{ flow: name }} className="font-medium">
            <SafeText>{title}</SafeText>
          </Link>
          <span className="flex flex-wrap items-center gap-2 text-xs text-muted">
            <code>{name}</code>
            {origin !== "shipped" && <Badge>{origin}</Badge>}
            {flow.error !== null ? (
              <Badge tone="bad">
                <Icon name="cross" /> has errors
              </Badge>
            ) : (
              <span>{flow.data === undefined ? "" : stagesText(flow.data.stages.map(({ id }) => id))}</span>
            )}
          </span>
        </span>
      </Cell>
      <Cell of="Success" number empty={success?.rate === "—"}>
        <span {...tip(success?.of)}>{success?.rate ?? "…"}</span>
        {success !== undefined && success.rate !== "—" && (
          <span className="block text-xs text-muted">{success.of.split(" succeeded")[0]}</span>
        )}
      </Cell>
      <Cell of="Median time" number empty={stats?.medianMs === null}>
        {stats?.medianMs === null || stats === undefined ? "—" : duration(stats.medianMs)}
      </Cell>
      <Cell of="Median cost" number empty={stats?.medianUsd === null}>
        {usd(stats?.medianUsd)}
      </Cell>
      <Cell of="Loops" number empty={stats?.runs === 0}>
        {stats === undefined ? "…" : stats.runs === 0 ? "—" : stats.loops}
      </Cell>
      <Cell of="Last runs">
        <LastRuns flow={name} />
      </Cell>
      <Cell of="">
        <Button
          aria-label={`Start ${name}`}
          disabledBecause={flow.error === null ? undefined : "The flow has errors."}
          onClick={start}
        >
          Start
        </Button>
      </Cell>
    </Row>
  );
}

const SHOWN_AT_MOST = 6;

function stagesText(ids: readonly string[]): string {
  const shown = ids.slice(0, SHOWN_AT_MOST).join(" → ");
  return ids.length > SHOWN_AT_MOST ? `${shown} → ${ids.length - SHOWN_AT_MOST} more` : shown;
}
