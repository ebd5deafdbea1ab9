// The page of one flow: its graph, the check of its file, its results, and the file itself.

import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useState } from "react";
import { flowQuery } from "../base/queries.ts";
import { FlowProblems, FlowText } from "./flow-text.tsx";
import { LastRuns } from "./last-runs.tsx";
import { flowSourceQuery, flowStatsQuery } from "./queries.ts";
import { successOf } from "./success.ts";
import { Button } from "../ui/button.tsx";
import { CopyLine } from "../ui/copy-line.tsx";
import { PageHead, Panel } from "../ui/panel.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Failure, Loading } from "../ui/states.tsx";
import { Badge } from "../ui/status-badge.tsx";
import { duration, usd } from "../ui/time.tsx";

const FlowPicture = lazy(async () => ({ default: (await import("./flow-picture.tsx")).FlowPicture }));
const StartRun = lazy(async () => ({ default: (await import("../run/start-run.tsx")).StartRun }));
const route = getRouteApi("/flows/$flow");

export function FlowPage(): ReactNode {
  const { flow: name } = route.useParams();
  const flow = useQuery(flowQuery(name));
  const source = useQuery(flowSourceQuery(name));
  if (source.error !== null) return <Failure error={source.error} retry={() => void source.refetch()} />;
  if (source.data === undefined) return <Loading what={`the flow ${name}`} />;
  const { file, origin, problems } = source.data;
  return (
    <div className="flex flex-col gap-4">
      <PageHead title={<SafeText>{flow.data?.title ?? name}</SafeText>}>
        <Badge>{origin === "shipped" ? "built in" : origin}</Badge>
        <Link to="/runs" search={{ flow: name }}>
          Runs of this flow
        </Link>
        {problems.every(({ severity }) => severity !== "error") && <Start flow={name} />}
      </PageHead>
      <Panel title="Stages">
        {flow.error !== null ? (
          <Failure error={flow.error} retry={() => void flow.refetch()} />
        ) : flow.data === undefined ? (
          <Loading what="stages" />
        ) : (
          <Suspense fallback={<Loading what="the graph" />}>
            <FlowPicture flow={flow.data} />
          </Suspense>
        )}
      </Panel>
      <div className="grid grid-cols-1 gap-4 lg:grid-cols-2">
        <Panel title="Results">
          <Stats flow={name} />
        </Panel>
        <Panel
          title={`Check: ${problems.length === 0 ? "no problems" : `${problems.length} ${problems.length === 1 ? "problem" : "problems"}`}`}
        >
          <div className="flex flex-col gap-3">
            <FlowProblems problems={problems} />
            <CopyLine>{`passrail flow check ${name}`}</CopyLine>
          </div>
        </Panel>
      </div>
      <Panel title="File">
        <p className="mb-2 font-mono text-xs break-all text-muted">{file}</p>
        <FlowText source={source.data} />
      </Panel>
    </div>
  );
}

function Start({ flow }: { readonly flow: string }): ReactNode {
  const [isOpen, open] = useState(false);
  return (
    <>
      <Button look="primary" onClick={() => open(true)}>
        Start a run
      </Button>
      <Suspense>{isOpen && <StartRun flow={flow} close={() => open(false)} />}</Suspense>
    </>
  );
}

function Stats({ flow }: { readonly flow: string }): ReactNode {
  const { data, error, refetch } = useQuery(flowStatsQuery(flow));
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading what="results" />;
  const { rate, of } = successOf(data);
  const facts: readonly (readonly [string, ReactNode])[] = [
    ["Success", rate === "—" ? of : `${rate}: ${of}`],
    ["Median time, including waits", data.medianMs === null ? "—" : duration(data.medianMs)],
    ["Median cost, where known", usd(data.medianUsd)],
    ["Loops counted", String(data.loops)],
    ["Runs counted", String(data.runs)],
    ["Last runs", <LastRuns key="last" flow={flow} />],
  ];
  return (
    <dl className="grid grid-cols-[minmax(0,auto)_minmax(0,1fr)] gap-x-4 max-sm:grid-cols-2 gap-y-2 text-sm">
      {facts.map(([name, value]) => (
        <div key={name} className="contents">
          <dt className="text-muted">{name}</dt>
          <dd className="tabular">{value}</dd>
        </div>
      ))}
    </dl>
  );
}
