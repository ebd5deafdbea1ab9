// The page of insights: the cost of work, and where it loses time.

import { getRouteApi } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";
import { COST_KEYS, CostPanel } from "./cost-panel.tsx";
import { PERIODS, periodOf, sinceOf } from "./period.ts";
import { WaitsPanels } from "./waits-panel.tsx";
import { PageHead } from "../ui/panel.tsx";
import { TabLinks } from "../ui/tab-links.tsx";

const route = getRouteApi("/insights");

export function InsightsPage(): ReactNode {
  const search = route.useSearch();
  const period = periodOf(search.since);
  const by = COST_KEYS.find(({ is }) => is === search.by)?.is ?? "day";
  const since = useMemo(() => sinceOf(period, Date.now()), [period]);
  return (
    <div className="flex flex-col gap-4">
      <PageHead title="Insights">
        <TabLinks label="Time" to="/insights" name="since" tabs={PERIODS} current={period} />
      </PageHead>
      <CostPanel by={by} since={since} />
      <WaitsPanels since={since} />
    </div>
  );
}
