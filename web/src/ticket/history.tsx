// The history of a ticket in the words of its flow: handoffs, verdicts, decisions. A row with issues opens to show them.

import type { ReactNode } from "react";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { issueText } from "./issue-text.ts";
import { SafeText } from "../ui/safe-text.tsx";
import { clock } from "../ui/time.tsx";

type Entry = NonNullable<AnswerTo<"showTicket">["feature"]>["pipeline_log"][number];

const SHOWN_AT_MOST = 100;

export function History({ log }: { readonly log: readonly Entry[] }): ReactNode {
  const cut = log.slice(-SHOWN_AT_MOST);
  return (
    <details className="rounded-md border border-line">
      <summary className="min-h-9 cursor-pointer px-3 py-2 text-sm font-medium pointer-coarse:min-h-11">
        History · {log.length} {log.length === 1 ? "event" : "events"}
      </summary>
      {cut.length < log.length && (
        <p className="px-3 py-1 text-xs text-muted">
          Only the last {SHOWN_AT_MOST} events are shown; the run has all of them.
        </p>
      )}
      <ol className="flex flex-col divide-y divide-line border-t border-line text-sm">
        {cut.map((entry, index) => (
          <li key={`${entry.timestamp} ${index}`} className="px-3 py-1.5">
            <Row entry={entry} />
          </li>
        ))}
      </ol>
    </details>
  );
}

function Row({ entry }: { readonly entry: Entry }): ReactNode {
  const { issues = [], comment = "" } = entry;
  const said = comment !== "" && (
    <p className="pl-4 text-ink [overflow-wrap:anywhere]">
      <SafeText max={4000}>{comment}</SafeText>
    </p>
  );
  if (issues.length === 0)
    return (
      <>
        <Line entry={entry} />
        {said}
      </>
    );
  return (
    <details>
      <summary className="cursor-pointer">
        <Line entry={entry} />
      </summary>
      {said}
      <ul className="mt-1 list-disc pl-8 text-ink">
        {issues.map((issue, index) => (
          <li key={index} className="break-words">
            <SafeText max={4000}>{issueText(issue)}</SafeText>
          </li>
        ))}
      </ul>
    </details>
  );
}

function Line({
  entry: { timestamp, agent, stage, verdict, issues = [], revision_loop: loop = 0 },
}: {
  readonly entry: Entry;
}): ReactNode {
  return (
    <span className="inline-flex flex-wrap items-baseline gap-x-2">
      <time dateTime={timestamp} className="tabular text-xs text-muted">
        {clock(timestamp)}
      </time>
      <span className="font-medium">
        <SafeText max={80}>{verdict}</SafeText>
      </span>
      <span className="text-muted">
        <SafeText max={80}>{agent}</SafeText> at <SafeText max={80}>{stage}</SafeText>
        {loop > 0 && <> · loop {loop}</>}
        {issues.length > 0 && (
          <>
            {" "}
            · {issues.length} {issues.length === 1 ? "issue" : "issues"}
          </>
        )}
      </span>
    </span>
  );
}
