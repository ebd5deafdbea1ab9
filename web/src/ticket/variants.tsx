// The variants of one group side by side: status, checks, verdicts, changes and cost of each, and the choice of one.

import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { SHOWN } from "../base/status.ts";
import { ChooseVariant, type Variant } from "./choose-variant.tsx";
import { costText, standingOfFile } from "./ticket-facts.ts";
import { whyNotChoose } from "./variant-words.ts";
import { Button } from "../ui/button.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Badge } from "../ui/status-badge.tsx";
import { Cell, Row, Table } from "../ui/table.tsx";
import { Icon } from "../ui/icon.tsx";

export function Variants({ id, variants }: { readonly id: string; readonly variants: readonly Variant[] }): ReactNode {
  const [chosen, setChosen] = useState<Variant | null>(null);
  return (
    <>
      <Table label="Variants" head={["Variant", "Status", "Checks", "Stages", "Changes", "Cost", "Run", "Choice"]}>
        {variants.map((variant) => (
          <Row key={variant.id}>
            <Cell of="Variant" head>
              <VariantName variant={variant} isSelf={variant.id === id} />
            </Cell>
            <Cell of="Status">
              <Standing variant={variant} />
            </Cell>
            <Cell of="Checks" empty={variant.checks.length === 0}>
              <Results rows={variant.checks.map(({ name, state }) => [name, state])} />
            </Cell>
            <Cell of="Stages" empty={variant.verdicts.length === 0}>
              <Results rows={variant.verdicts.map(({ stage, verdict }) => [stage, verdict])} />
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
            <Cell of="Choice">
              <Button
                disabledBecause={whyNotChoose(variant) ?? undefined}
                aria-label={`Choose ${variant.id}`}
                onClick={() => setChosen(variant)}
              >
                Choose
              </Button>
            </Cell>
          </Row>
        ))}
      </Table>
      {chosen !== null && <ChooseVariant variant={chosen} all={variants} close={() => setChosen(null)} />}
    </>
  );
}

/** The last result of each check or stage. */
function Results({ rows }: { readonly rows: readonly (readonly [name: string, result: string])[] }): ReactNode {
  if (rows.length === 0) return "—";
  return (
    <ul className="flex flex-col">
      {rows.map(([name, result]) => (
        <li key={name}>
          <span className="text-muted">
            <SafeText max={60}>{name}</SafeText>
          </span>{" "}
          <SafeText max={60}>{result}</SafeText>
        </li>
      ))}
    </ul>
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
  const { icon, tone } = SHOWN[standingOfFile({ state, status: word })];
  return (
    <Badge tone={tone}>
      <Icon name={icon} />
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
