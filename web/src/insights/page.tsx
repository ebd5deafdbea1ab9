// The page of insights: the cost of work over time and against the budget, its results, and where it loses time. Every number leads to
// its runs.

import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";
import { COST_KEYS, CostPanel } from "./cost-panel.tsx";
import { PERIODS, periodOf, sinceOf } from "./period.ts";
import { pickedRuns } from "./picked.ts";
import { insightsQuery } from "./queries.ts";
import { PickedRuns, ResultNumbers, TicketCosts } from "./results-panel.tsx";
import { WaitsPanels } from "./waits-panel.tsx";
import { PageHead, Panel } from "../ui/panel.tsx";
import { Failure, Loading } from "../ui/states.tsx";
import { TabLinks } from "../ui/tab-links.tsx";

const route = getRouteApi("/insights");

export function InsightsPage(): ReactNode {
  const search = route.useSearch();
  const period = periodOf(search.since);
  const by = COST_KEYS.find(({ is }) => is === search.by)?.is ?? "day";
  const since = useMemo(() => sinceOf(period, Date.now()), [period]);
  const { data, error, refetch } = useQuery(insightsQuery(since));
  const picked = data === undefined ? undefined : pickedRuns(search.pick, data.results.runs);
  return (
    <div className="flex flex-col gap-4">
      <PageHead title="Insights">
        <TabLinks label="Time" to="/insights" name="since" tabs={PERIODS} current={period} />
      </PageHead>
      {picked !== undefined && <PickedRuns picked={picked} />}
      {data !== undefined && data.runs > 0 && (
        <Panel title="Results">
          <ResultNumbers results={data.results} />
        </Panel>
      )}
      <CostPanel by={by} since={since} />
      {data !== undefined && data.runs > 0 && (
        <Panel title="Tickets by cost">
          <TicketCosts tickets={data.results.tickets} />
        </Panel>
      )}
      {error !== null ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <Loading what="waits and loops" />
      ) : (
        <WaitsPanels data={data} />
      )}
    </div>
  );
}
