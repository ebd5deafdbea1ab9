// The cost of work by day, agent, stage, flow, runner or model.

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { CopyLine } from "../ui/copy-line.tsx";
import { Panel } from "../ui/panel.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Empty, Failure, Loading } from "../ui/states.tsx";
import { TabLinks } from "../ui/tab-links.tsx";
import { Cell, Row, Table } from "../ui/table.tsx";
import { duration } from "../ui/time.tsx";
import { barsOf, costText, short, tokensOf } from "./bars.ts";
import { type CostKey, costQuery } from "./queries.ts";

export const COST_KEYS = [
  { is: "day", title: "Day" },
  { is: "agent", title: "Agent" },
  { is: "stage", title: "Stage" },
  { is: "flow", title: "Flow" },
  { is: "runner", title: "Runner" },
  { is: "model", title: "Model" },
] as const;

const ROWS_AT_MOST = 100;

export function CostPanel({ by, since }: { readonly by: CostKey; readonly since: string | null }): ReactNode {
  const { data, error, refetch } = useQuery(costQuery(by, since));
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
          <Table label={`Cost by ${by}`} head={[nameOf(by), "Share", "Cost", "Tokens in + out", "Attempts", "Time"]}>
            {barsOf(data.rows, by)
              .slice(0, ROWS_AT_MOST)
              .map(({ row, share }) => (
                <Row key={row.key ?? ""}>
                  <Cell of={nameOf(by)} head>
                    <SafeText max={120}>{row.key ?? "unnamed"}</SafeText>
                  </Cell>
                  <Cell of="Share">
                    <span
                      aria-hidden="true"
                      className="block h-2.5 w-24 rounded bg-sunken md:mt-1 md:w-full md:min-w-32"
                    >
                      <span
                        className="block h-full rounded bg-active"
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
          {data.rows.length > ROWS_AT_MOST && (
            <p className="text-xs text-muted">
              The first {ROWS_AT_MOST} of {data.rows.length}.
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
