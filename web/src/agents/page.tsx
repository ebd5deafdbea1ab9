// The page of agents: the runner, the cost and the failed attempts of each.

import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { NOBODY, playedBy } from "./played-by.ts";
import { agentsQuery, settingsQuery } from "./queries.ts";
import { Runners } from "./runners.tsx";
import { costText } from "../insights/bars.ts";
import { FailureTable } from "../insights/failures.tsx";
import { costQuery, insightsQuery } from "../insights/queries.ts";
import { CopyLine } from "../ui/copy-line.tsx";
import { PageHead, Panel } from "../ui/panel.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Empty, Failure, Loading } from "../ui/states.tsx";
import { Badge } from "../ui/status-badge.tsx";
import { Cell, Row, Table } from "../ui/table.tsx";

export function AgentsPage(): ReactNode {
  return (
    <div className="flex flex-col gap-4">
      <PageHead title="Agents" />
      <Panel title="Programs on this machine" actions={<CopyLine>passrail agent list</CopyLine>}>
        <Runners />
      </Panel>
      <Panel title="Agents">
        <AgentTable />
      </Panel>
      <Panel title="Last failures">
        <Failures />
      </Panel>
    </div>
  );
}

function AgentTable(): ReactNode {
  const { data, error, refetch } = useQuery(agentsQuery);
  const settings = useQuery(settingsQuery).data?.settings;
  const costs = useQuery(costQuery("agent", null)).data?.rows;
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading what="agents" />;
  if (data.agents.length === 0)
    return (
      <Empty title="No agents yet.">
        <p>An agent is a Markdown file in .passrail/agents or .claude/agents of your repository.</p>
      </Empty>
    );
  const isOpen = settings !== undefined && data.agents.some(({ name }) => playedBy(name, settings).by === NOBODY);
  return (
    <div className="flex flex-col gap-3">
      {isOpen && (
        <p className="text-sm text-muted">
          Some agents have no runner. Set one in passrail.yaml (<code>runner: claude</code>) or for one run (
          <code>--agent builder=codex</code>). A flow or the agent's own file can name one too.
        </p>
      )}
      <Table label="Agents" head={["Agent", "Played by", "Model", "Attempts", "Cost"]}>
        {data.agents.map(({ name, description, model, origin }) => {
          const cost = costs?.find(({ key }) => key?.toLowerCase() === name.toLowerCase());
          const played = settings === undefined ? undefined : playedBy(name, settings);
          return (
            <Row key={name}>
              <Cell of="Agent" head>
                <span className="flex flex-col gap-0.5">
                  <span className="flex flex-wrap items-center gap-2">
                    <strong>
                      <SafeText max={100}>{name}</SafeText>
                    </strong>
                    {origin !== "shipped" && <Badge>{origin}</Badge>}
                  </span>
                  <span className="max-w-[90ch] text-xs text-muted">
                    <SafeText max={200}>{description}</SafeText>
                  </span>
                </span>
              </Cell>
              <Cell of="Played by">
                <SafeText max={120}>{played?.by ?? "…"}</SafeText>
                {played !== undefined && played.because !== "" && (
                  <span className="block text-xs text-muted">{played.because}</span>
                )}
              </Cell>
              <Cell of="Model" empty={model === null}>
                <SafeText max={80}>{model ?? "—"}</SafeText>
              </Cell>
              <Cell of="Attempts" number empty={cost === undefined}>
                {cost?.attempts ?? "—"}
              </Cell>
              <Cell of="Cost" number empty={cost === undefined}>
                {cost === undefined ? "—" : costText(cost)}
              </Cell>
            </Row>
          );
        })}
      </Table>
    </div>
  );
}

function Failures(): ReactNode {
  const { data, error, refetch } = useQuery(insightsQuery(null));
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  return data === undefined ? <Loading what="failures" /> : <FailureTable failures={data.failures} />;
}
