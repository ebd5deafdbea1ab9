// The rows of evidence behind a decision: run by Passrail, reported by agents, or missing.

import type { ReactNode } from "react";
import { EVIDENCE_WORDS } from "../../../src/core/view/evidence-table.ts";
import { SafeText } from "../ui/safe-text.tsx";
import { Badge } from "../ui/status-badge.tsx";
import { Cell, Row, Table } from "../ui/table.tsx";
import type { Evidence } from "./types.ts";
import { Icon } from "../ui/icon.tsx";

type Line = Evidence["table"][number];

export function EvidenceTable({ lines }: { readonly lines: readonly Line[] }): ReactNode {
  if (lines.length === 0) return null;
  return (
    <Table label="Evidence" head={["What", "How known", "Evidence", "Stage"]}>
      {lines.map((line, index) => (
        <EvidenceRow key={`${line.stage} ${index}`} line={line} />
      ))}
    </Table>
  );
}

function EvidenceRow({ line: { stage, attempt, what, state, isGood, evidence } }: { readonly line: Line }): ReactNode {
  const tone = isGood === false || state === "missing" ? "bad" : state === "run" ? "good" : "quiet";
  return (
    <Row>
      <Cell of="What" head>
        <span className="block md:min-w-40 [overflow-wrap:anywhere]">
          {isGood !== null && (
            <>
              <Icon name={isGood ? "check" : "cross"} className="mr-1 inline" />
              <span className="sr-only">{isGood ? "met: " : "not met: "}</span>
            </>
          )}
          <SafeText max={200}>{what}</SafeText>
        </span>
      </Cell>
      <Cell of="How known">
        <Badge tone={tone}>{EVIDENCE_WORDS[state]}</Badge>
      </Cell>
      <Cell of="Evidence" empty={evidence === ""}>
        <span className="text-muted [overflow-wrap:anywhere]">
          <SafeText max={400}>{evidence}</SafeText>
        </span>
      </Cell>
      <Cell of="Stage">
        <span className="whitespace-nowrap text-muted">
          {stage} #{attempt}
        </span>
      </Cell>
    </Row>
  );
}
