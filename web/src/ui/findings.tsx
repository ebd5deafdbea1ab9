// Findings with their ids: the reviewer's text, and below it, in order, the later words of both sides.

import type { ReactNode } from "react";
import type { FindingRow } from "../../../src/core/view/findings.ts";
import { SafeText } from "./safe-text.tsx";
import { Badge } from "./status-badge.tsx";

const TONE_OF = { open: "bad", accepted: "warning", fixed: "good", withdrawn: "quiet" } as const;
const WORDS = { open: "open", accepted: "accepted, still open", fixed: "fixed", withdrawn: "withdrawn" } as const;

export function Findings({
  findings,
  label = "Findings",
}: {
  readonly findings: readonly FindingRow[];
  readonly label?: string;
}): ReactNode {
  return (
    <ul className="flex flex-col gap-3 text-sm" aria-label={label}>
      {findings.map((finding) => (
        <li key={finding.id} id={`finding-${finding.id}`} className="rounded-md border border-line px-3 py-2">
          <OneFinding finding={finding} />
        </li>
      ))}
    </ul>
  );
}

function OneFinding({ finding }: { readonly finding: FindingRow }): ReactNode {
  const { id, state, severity, where, stage, iteration, text, stuck, acceptedBy, history, left } = finding;
  return (
    <>
      <p className="flex flex-wrap items-center gap-2">
        <strong className="font-mono">{id}</strong>
        <Badge tone={TONE_OF[state]}>{WORDS[state]}</Badge>
        {severity !== null && (
          <span className="font-medium">
            <SafeText max={40}>{severity}</SafeText>
          </span>
        )}
        {where !== null && (
          <code className="font-mono text-xs [overflow-wrap:anywhere]">
            <SafeText max={400}>{where}</SafeText>
          </code>
        )}
        <span className="text-muted">
          raised by {stage}, iteration {iteration}
        </span>
        {acceptedBy !== null && (
          <span className="text-muted">
            accepted by <SafeText max={100}>{acceptedBy.replace(/^human:/u, "")}</SafeText>
          </span>
        )}
      </p>
      {stuck !== null && <p className="mt-1 font-medium text-bad">{stuck}</p>}
      <p className="mt-1 whitespace-pre-wrap [overflow-wrap:anywhere]">
        <SafeText max={4000}>{text}</SafeText>
      </p>
      {left > 0 && <p className="mt-1 text-muted">{left} earlier statements are in the events.</p>}
      {history.length > 0 && (
        <ol className="mt-2 flex flex-col gap-1 border-l-2 border-line pl-3">
          {history.map((each, at) => (
            // oxlint-disable-next-line react/no-array-index-key -- statements have no names, and their order is kept
            <li key={at} className="[overflow-wrap:anywhere]">
              <span className="text-muted">
                {each.by}, iteration {each.iteration}:
              </span>{" "}
              <strong className="font-semibold">{each.said === "note" ? "says" : each.said}</strong>
              {each.text !== "" && " — "}
              <span className="whitespace-pre-wrap">
                <SafeText max={1000}>{each.text}</SafeText>
              </span>
            </li>
          ))}
        </ol>
      )}
    </>
  );
}
