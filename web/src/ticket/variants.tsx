// The variants of one group side by side: status, verdicts, changes and cost of each.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { SHOWN } from "../base/status.ts";
import { costText, standingOfFile } from "./ticket-facts.ts";
import { SafeText } from "../ui/safe-text.tsx";
import { Badge } from "../ui/status-badge.tsx";
import { Cell, Row, Table } from "../ui/table.tsx";

type Variant = AnswerTo<"showTicket">["variants"][number];

export function Variants({ id, variants }: { readonly id: string; readonly variants: readonly Variant[] }): ReactNode {
  return (
    <Table label="Variants" head={["Variant", "Status", "Stages", "Changes", "Cost", "Run"]}>
      {variants.map((variant) => (
        <Row key={variant.id}>
          <Cell of="Variant" head>
            <VariantName variant={variant} isSelf={variant.id === id} />
          </Cell>
          <Cell of="Status">
            <Standing variant={variant} />
          </Cell>
          <Cell of="Stages" empty={variant.verdicts.length === 0}>
            {variant.verdicts.length === 0 ? (
              "—"
            ) : (
              <ul className="flex flex-col">
                {variant.verdicts.map(({ stage, verdict }) => (
                  <li key={stage}>
                    <span className="text-muted">
                      <SafeText max={60}>{stage}</SafeText>
                    </span>{" "}
                    <SafeText max={60}>{verdict}</SafeText>
                  </li>
                ))}
              </ul>
            )}
          </Cell>
          <Cell of="Changes" number empty={variant.changes === null}>
            {variant.changes === null ? "—" : <Changes changes={variant.changes} run={variant.newest?.number} />}
          </Cell>
          <Cell of="Cost" number>
            {costText(variant.cost)}
          </Cell>
          <Cell of="Run" number empty={variant.newest === null}>
            {variant.newest === null ? (
              "—"
            ) : (
              <Link to="/runs/$run" params={{ run: String(variant.newest.number) }}>
                #{variant.newest.number}
              </Link>
            )}
          </Cell>
        </Row>
      ))}
    </Table>
  );
}

function VariantName({ variant, isSelf }: { readonly variant: Variant; readonly isSelf: boolean }): ReactNode {
  const { id, title, hint } = variant;
  return (
    <>
      {isSelf ? (
        <strong className="font-medium">
          <SafeText max={200}>{title}</SafeText>
        </strong>
      ) : (
        <Link to="/tickets/$ticket" params={{ ticket: id }}>
          <SafeText max={200}>{title}</SafeText>
        </Link>
      )}
      <span className="block text-xs text-muted">
        <span className="font-mono">
          <SafeText max={60}>{id}</SafeText>
        </span>
        {hint !== null && (
          <>
            {" · "}
            <SafeText max={200}>{hint}</SafeText>
          </>
        )}
        {isSelf && " · this ticket"}
      </span>
    </>
  );
}

function Standing({ variant: { state, word } }: { readonly variant: Variant }): ReactNode {
  const { sign, tone } = SHOWN[standingOfFile({ state, status: word })];
  return (
    <Badge tone={tone}>
      <span aria-hidden="true">{sign}</span>
      <SafeText max={60}>{word}</SafeText>
    </Badge>
  );
}

function Changes({
  changes: { files, added, removed },
  run,
}: {
  readonly changes: NonNullable<Variant["changes"]>;
  readonly run: number | undefined;
}): ReactNode {
  const text = `${files} ${files === 1 ? "file" : "files"}, +${added} −${removed}`;
  if (run === undefined) return text;
  return (
    <Link to="/runs/$run" params={{ run: String(run) }} search={{ tab: "changes" }}>
      {text}
    </Link>
  );
}
