// The morning after: landed work, waiting items, failures with their reason, and the cost. The same report as `passrail report`.

import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";
import { nightReportCostText } from "../../../src/core/view/night-report.ts";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { isDrawn } from "../ticket/ticket-facts.ts";
import { CopyLine } from "../ui/copy-line.tsx";
import { PageHead, Panel } from "../ui/panel.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Failure, Loading } from "../ui/states.tsx";
import { TabLinks } from "../ui/tab-links.tsx";
import { PERIODS, periodOf, sinceOf } from "./period.ts";
import { reportQuery } from "./queries.ts";

const route = getRouteApi("/report");

type Report = AnswerTo<"report">;
type ReportRow = Report["waiting"][number];

export function ReportPage(): ReactNode {
  const period = periodOf(route.useSearch().since);
  const since = useMemo(() => sinceOf(period, Date.now()), [period]);
  const { data, error, refetch } = useQuery(reportQuery(since));
  return (
    <div className="flex flex-col gap-4">
      <PageHead title="Report">
        <TabLinks label="Time" to="/report" name="since" tabs={PERIODS} current={period} />
      </PageHead>
      {error !== null ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <Loading what="the report" />
      ) : (
        <Sections report={data} />
      )}
    </div>
  );
}

function Sections({ report }: { readonly report: Report }): ReactNode {
  const { landed, waiting, failed, cannotStart, goingOn, later, ended, cost, isCut } = report;
  const sections: readonly (readonly [string, readonly ReportRow[]])[] = [
    ["Landed", landed],
    ["Waiting for you", waiting],
    ["Failed", failed],
    ["Could not start", cannotStart],
    ["Not finished", goingOn],
    ["Not started yet", later],
    ["Ended without work that left", ended],
  ];
  return (
    <>
      <p className="text-sm">
        <span className="font-medium">Cost:</span> {nightReportCostText(cost)}
      </p>
      {isCut && <p className="text-sm text-muted">More runs ended than were looked at; choose a shorter time.</p>}
      {sections.map(([title, rows], index) =>
        // The first three are what a person came for: they say so if there are none.
        rows.length === 0 && index > 2 ? null : (
          <Panel key={title} title={`${title}: ${rows.length}`}>
            <Rows rows={rows} />
          </Panel>
        ),
      )}
    </>
  );
}

/** A ticket's own id is shown before its title; a random one is left out. */
function nameOf({ subject, title }: Pick<ReportRow, "subject" | "title">): string {
  return subject === null || isDrawn(subject) ? title : `${subject}: ${title}`;
}

function Rows({ rows }: { readonly rows: readonly ReportRow[] }): ReactNode {
  if (rows.length === 0) return <p className="text-sm text-muted">None in this time.</p>;
  return (
    <ul className="flex flex-col divide-y divide-line">
      {rows.map(({ subject, title, run, text, commands }, index) => (
        <li key={`${subject ?? title} ${run?.id ?? index}`} className="flex flex-col gap-1 py-2 first:pt-0 last:pb-0">
          <span className="text-sm font-medium">
            {run === null ? (
              <SafeText max={200}>{nameOf({ subject, title })}</SafeText>
            ) : (
              <Link
                to="/runs/$run"
                params={{ run: String(run.number) }}
                className="text-ink no-underline hover:underline"
              >
                #{run.number} <SafeText max={200}>{nameOf({ subject, title })}</SafeText>
              </Link>
            )}
          </span>
          <span className="text-sm text-muted">
            <SafeText max={600}>{text}</SafeText>
          </span>
          {commands[0] !== undefined && <CopyLine>{commands[0]}</CopyLine>}
        </li>
      ))}
    </ul>
  );
}
