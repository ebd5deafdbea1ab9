// Which run changed which file, and by how much; each number leads to the change.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { RunDetail } from "../run/types.ts";
import { Panel } from "../ui/panel.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Cell, Row, Table } from "../ui/table.tsx";
import { filesOf } from "./asked.ts";

type Props = {
  readonly runs: readonly RunDetail[];
  /** In the order of the runs. */
  readonly diffs: Parameters<typeof filesOf>[0];
};

const SHOWN = 200;

export function FileMatrix({ runs, diffs }: Props): ReactNode {
  const rows = filesOf(diffs);
  if (rows.length === 0) return null;
  return (
    <Panel title={`Files · ${rows.length}`}>
      <Table label="Files" head={["File", ...runs.map(({ number }) => `#${number}`)]}>
        {rows.slice(0, SHOWN).map(({ path, stats }) => (
          <Row key={path}>
            <Cell of="File" head>
              <code className="text-xs [overflow-wrap:anywhere]">
                <SafeText max={400}>{path}</SafeText>
              </code>
            </Cell>
            {runs.map(({ id, number }, at) => {
              const stat = stats[at] ?? null;
              return (
                <Cell key={id} of={`#${number}`} number>
                  {stat === null ? (
                    <span className="text-muted">unchanged</span>
                  ) : (
                    <Link to="/runs/$run" params={{ run: String(number) }} search={{ tab: "changes", file: path }}>
                      +{stat.added} −{stat.removed}
                    </Link>
                  )}
                </Cell>
              );
            })}
          </Row>
        ))}
      </Table>
      {rows.length > SHOWN && <p className="pt-2 text-xs text-muted">Only the first {SHOWN} files are shown.</p>}
    </Panel>
  );
}
