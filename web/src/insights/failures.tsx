import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { SafeText } from "../ui/safe-text.tsx";
import { Cell, Row, Table } from "../ui/table.tsx";
import { Ago } from "../ui/time.tsx";

/** The last attempts that failed, with why; each leads to its log. */
export function FailureTable({ failures }: { readonly failures: AnswerTo<"insights">["failures"] }): ReactNode {
  if (failures.length === 0) return <p className="text-sm text-muted">No attempt failed.</p>;
  return (
    <Table label="Last failures" head={["When", "Attempt", "Why"]}>
      {failures.map(({ runId, number, stage, attempt, agent, at, reason }) => (
        <Row key={`${runId} ${stage} ${attempt}`}>
          <Cell of="When">
            <Ago at={at} />
          </Cell>
          <Cell of="Attempt">
            <Link
              to="/runs/$run"
              params={{ run: String(number) }}
              search={{ tab: "log", stage, attempt: String(attempt) }}
              className="whitespace-nowrap"
            >
              #{number} {stage} {attempt}
            </Link>
            {agent !== null && (
              <span className="block text-xs text-muted">
                <SafeText max={60}>{agent}</SafeText>
              </span>
            )}
          </Cell>
          <Cell of="Why">
            <SafeText max={300}>{reason === "" ? "no reason was given" : reason}</SafeText>
          </Cell>
        </Row>
      ))}
    </Table>
  );
}
