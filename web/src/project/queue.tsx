// The line of work: per folder first in, first out. It shows the working and waiting runs, why and since when they wait.

import { queryOptions, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { call } from "../base/api.ts";
import type { Tone } from "../base/status.ts";
import { CopyLine } from "../ui/copy-line.tsx";
import { Panel } from "../ui/panel.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Failure, Loading } from "../ui/states.tsx";
import { Badge } from "../ui/status-badge.tsx";
import { Cell, Row, Table } from "../ui/table.tsx";
import { Ago, clock } from "../ui/time.tsx";

const queueQuery = queryOptions({
  queryKey: ["queue"],
  queryFn: ({ signal }) => call("showQueue", {}, { signal }),
});

type Line = AnswerTo<"showQueue">["projects"][number];
type Entry = Line["entries"][number];

const STATES: Readonly<Record<Entry["state"], { readonly tone: Tone; readonly word: string }>> = {
  running: { tone: "active", word: "working" },
  queued: { tone: "quiet", word: "in line" },
  later: { tone: "warning", word: "later" },
  paused: { tone: "attention", word: "paused" },
  outside: { tone: "quiet", word: "outside" },
};
const HEAD = ["Place", "Run", "Stage", "Why it waits", "Since"] as const;
const ROWS_AT_MOST = 200;

export function Queue(): ReactNode {
  const { data, error, refetch } = useQuery(queueQuery);
  return (
    <Panel title="Queue" actions={<CopyLine>passrail queue</CopyLine>}>
      {error !== null ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <Loading what="the queue" />
      ) : data.projects.length === 0 ? (
        <p className="text-sm text-muted">
          No run works or waits. Items for you are in the{" "}
          <Link to="/" className="underline">
            inbox
          </Link>
          .
        </p>
      ) : (
        <div className="flex flex-col gap-5">
          {data.projects.map((line) => (
            <Folder key={line.project} line={line} />
          ))}
        </div>
      )}
    </Panel>
  );
}

function Folder({ line: { project, name, entries } }: { readonly line: Line }): ReactNode {
  const waiting = entries.filter(({ state }) => state === "queued").length;
  return (
    <section aria-label={`Queue of ${name ?? project}`}>
      <h3 className="mb-2 flex flex-wrap items-baseline gap-x-2 text-sm font-medium">
        {name !== null && <span className="[overflow-wrap:anywhere]">{name}</span>}
        <code className="font-mono text-xs font-normal text-muted [overflow-wrap:anywhere]">
          <SafeText max={400}>{project}</SafeText>
        </code>
        <span className="text-xs font-normal text-muted">
          {waiting === 0 ? "nothing waits in line" : `${waiting} in line, first in, first out`}
        </span>
      </h3>
      <Table label={`Queue of ${name ?? project}`} head={HEAD}>
        {entries.slice(0, ROWS_AT_MOST).map((entry) => (
          <EntryRow key={`${entry.runId} ${entry.track}`} entry={entry} />
        ))}
      </Table>
      {entries.length > ROWS_AT_MOST && (
        <p className="text-xs text-muted">
          The first {ROWS_AT_MOST} of {entries.length}.
        </p>
      )}
    </section>
  );
}

function EntryRow({ entry }: { readonly entry: Entry }): ReactNode {
  const { number, title, stage, attempt, agent, state, position, why, since, notBefore, track } = entry;
  const { tone, word } = STATES[state];
  return (
    <Row>
      <Cell of="Place">
        <Badge tone={tone}>{position === null ? word : `${position}. ${word}`}</Badge>
      </Cell>
      <Cell of="Run">
        <Link
          to="/runs/$run"
          params={{ run: String(number) }}
          className="line-clamp-2 underline [overflow-wrap:anywhere]"
        >
          #{number} <SafeText max={400}>{title}</SafeText>
        </Link>
      </Cell>
      <Cell of="Stage">
        {stage}
        {attempt > 1 && ` #${attempt}`}
        <span className="text-muted">
          {agent !== "" && agent !== stage && (
            <>
              {" · "}
              <SafeText max={60}>{agent}</SafeText>
            </>
          )}
          {track !== "main" && ` · track ${track}`}
        </span>
      </Cell>
      <Cell of="Why it waits" empty={why === null}>
        {why}
        {notBefore !== null && <span className="text-muted"> (not before {clock(notBefore)})</span>}
      </Cell>
      <Cell of="Since" number>
        <Ago at={since} />
      </Cell>
    </Row>
  );
}
