// The settings in force, each with its origin. To change one, edit the file.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { settingsQuery } from "../agents/queries.ts";
import { Panel } from "../ui/panel.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Failure, Loading } from "../ui/states.tsx";
import { Badge } from "../ui/status-badge.tsx";
import { Cell, Row, Table } from "../ui/table.tsx";
import { valueText } from "./value-text.ts";

export function InForce(): ReactNode {
  const { data, error, refetch } = useQuery(settingsQuery);
  return (
    <Panel title="Settings in force">
      {error !== null ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <Loading what="settings" />
      ) : (
        <div className="flex flex-col gap-3">
          <p className="text-sm text-muted">
            Highest precedence first: flag, environment, the project's passrail.yaml, your own passrail.yaml, default.
            Secrets are not shown. The project's file counts in the version that you{" "}
            <Link to="/trust" className="underline">
              approved
            </Link>
            .
          </p>
          <Table label="Settings" head={["Setting", "Value", "From"]}>
            {data.settings.map(({ name, value, from }) => (
              <Row key={name}>
                <Cell of="Setting" head>
                  <code className="text-xs">{name}</code>
                </Cell>
                <Cell of="Value">
                  <span className="break-words">
                    <SafeText max={500}>{valueText(value)}</SafeText>
                  </span>
                </Cell>
                <Cell of="From">
                  <Badge tone={from === "default" ? "quiet" : "active"}>{from}</Badge>
                </Cell>
              </Row>
            ))}
          </Table>
        </div>
      )}
    </Panel>
  );
}
