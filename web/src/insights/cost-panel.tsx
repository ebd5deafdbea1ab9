// The cost of work by day, agent, stage, flow, runner, model or run.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { runQuery } from "../base/queries.ts";
import { CopyLine } from "../ui/copy-line.tsx";
import { Panel } from "../ui/panel.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Empty, Failure, Loading } from "../ui/states.tsx";
import { TabLinks } from "../ui/tab-links.tsx";
import { Cell, Row, Table } from "../ui/table.tsx";
import { duration } from "../ui/time.tsx";
import { barsOf, costText, short, tokensOf } from "./bars.ts";
import { CostOverTime } from "./cost-chart.tsx";
import { type CostKey, costQuery } from "./queries.ts";
import { PickLink } from "./results-panel.tsx";

export const COST_KEYS = [
  { is: "day", title: "Day" },
  { is: "agent", title: "Agent" },
  { is: "stage", title: "Stage" },
  { is: "flow", title: "Flow" },
  { is: "runner", title: "Runner" },
  { is: "model", title: "Model" },
  { is: "run", title: "Run" },
] as const;

/** A run leads to its page, everything else to its runs. */
function Key({ by, name }: { readonly by: CostKey; readonly name: string | null }): ReactNode {
  const run = useQuery({ ...runQuery(name ?? ""), enabled: by === "run" && name !== null }).data;
  if (name === null) return "unnamed";
  if (by !== "run")
    return (
      <PickLink pick={`${by}=${name}`}>
        <SafeText max={120}>{name}</SafeText>
      </PickLink>
    );
  return (
    <Link to="/runs/$run" params={{ run: name }} className="underline">
      {run === undefined ? name : `#${run.number} `}
      {run !== undefined && <SafeText max={120}>{run.subject.title}</SafeText>}
    </Link>
  );
}

const ROWS_AT_MOST = 100;
/** Each asks for its title. */
const RUNS_AT_MOST = 20;

export function CostPanel({ by, since }: { readonly by: CostKey; readonly since: string | null }): ReactNode {
  const { data, error, refetch } = useQuery(costQuery(by, since));
  const atMost = by === "run" ? RUNS_AT_MOST : ROWS_AT_MOST;
  return (
    <Panel title="Cost" actions={<TabLinks label="Cost by" to="/insights" name="by" tabs={COST_KEYS} current={by} />}>
      {error !== null ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <Loading what="costs" />
      ) : data.rows.length === 0 ? (
        <Empty title="No cost in this period.">
          <p>Runners that report their usage are counted here. Scripted agents use nothing.</p>
        </Empty>
      ) : (
        <div className="flex flex-col gap-3">
          <p className="text-sm">
            <strong className="tabular text-lg">{costText(data.total)}</strong>
            <span className="text-muted">
              {" "}
              in {data.total.attempts} {data.total.attempts === 1 ? "attempt" : "attempts"}
            </span>
          </p>
          {by === "day" && <CostOverTime rows={data.rows} since={since} />}
          <Table label={`Cost by ${by}`} head={[nameOf(by), "Share", "Cost", "Tokens in + out", "Attempts", "Time"]}>
            {barsOf(data.rows, by)
              .slice(0, atMost)
              .map(({ row, share }) => (
                <Row key={row.key ?? ""}>
                  <Cell of={nameOf(by)} head>
                    <Key by={by} name={row.key} />
                  </Cell>
                  <Cell of="Share">
                    <span
                      aria-hidden="true"
                      className="block h-2.5 w-24 rounded bg-sunken md:mt-1 md:w-full md:min-w-32"
                    >
                      <span
                        className="block h-full rounded bg-ink/70"
                        style={{ width: share === 0 ? 0 : `max(2px, ${(share * 100).toFixed(1)}%)` }}
                      />
                    </span>
                    <span className="sr-only">{Math.round(share * 100)} % of the largest</span>
                  </Cell>
                  <Cell of="Cost" number>
                    {costText(row)}
                  </Cell>
                  <Cell of="Tokens in + out" number>
                    {row.unknownTokens === row.attempts ? "—" : short(tokensOf(row))}
                  </Cell>
                  <Cell of="Attempts" number>
                    {row.attempts}
                  </Cell>
                  <Cell of="Time" number>
                    {duration(row.durationMs)}
                  </Cell>
                </Row>
              ))}
          </Table>
          {data.rows.length > atMost && (
            <p className="text-xs text-muted">
              The first {atMost} of {data.rows.length}.
            </p>
          )}
          <CopyLine>{`passrail cost --by ${by}${since === null ? "" : ` --since ${since}`}`}</CopyLine>
        </div>
      )}
    </Panel>
  );
}

function nameOf(by: CostKey): string {
  return COST_KEYS.find(({ is }) => is === by)?.title ?? by;
}
