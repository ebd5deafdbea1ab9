import type { ReactNode } from "react";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { AttemptLink } from "../ui/attempt-link.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Cell, Row, Table } from "../ui/table.tsx";
import { Ago } from "../ui/time.tsx";

/** The last attempts that failed, each with its reason and a link to its log. */
export function FailureTable({ failures }: { readonly failures: AnswerTo<"insights">["failures"] }): ReactNode {
  if (failures.length === 0) return <p className="text-sm text-muted">No failed attempts.</p>;
  return (
    <Table label="Last failures" head={["When", "Attempt", "Why"]}>
      {failures.map(({ runId, number, stage, attempt, agent, at, reason }) => (
        <Row key={`${runId} ${stage} ${attempt}`}>
          <Cell of="When">
            <Ago at={at} />
          </Cell>
          <Cell of="Attempt">
            <AttemptLink run={number} stage={stage} attempt={attempt} className="whitespace-nowrap">
              #{number} {stage} {attempt}
            </AttemptLink>
            {agent !== null && (
              <span className="block text-xs text-muted">
                <SafeText max={60}>{agent}</SafeText>
              </span>
            )}
          </Cell>
          <Cell of="Why">
            <SafeText max={300}>{reason === "" ? "no reason given" : reason}</SafeText>
          </Cell>
        </Row>
      ))}
    </Table>
  );
}
