// The workers and the attempts they run, and handoffs that no agent accepted in time.

import { queryOptions, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { sizeOfBytes } from "../../../src/core/retention/retention.ts";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { call } from "../base/api.ts";
import { runQuery } from "../base/queries.ts";
import { AttemptLink } from "../ui/attempt-link.tsx";
import { CopyLine } from "../ui/copy-line.tsx";
import { PageHead, Panel } from "../ui/panel.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Empty, Failure, Loading } from "../ui/states.tsx";
import { Cell, Row, Table } from "../ui/table.tsx";
import { Ago, Elapsed } from "../ui/time.tsx";

const workersQuery = queryOptions({
  queryKey: ["workers"],
  queryFn: ({ signal }) => call("listWorkers", {}, { signal }),
});
const staleQuery = queryOptions({
  queryKey: ["workers", "stale"],
  queryFn: ({ signal }) => call("listHandoffs", { query: { stale: "true" } }, { signal }),
});

export function WorkersPage(): ReactNode {
  const { data, error, refetch } = useQuery(workersQuery);
  return (
    <div className="flex flex-col gap-4">
      <PageHead title="Workers" />
      {error !== null ? (
        <Failure error={error} retry={() => void refetch()} />
      ) : data === undefined ? (
        <Loading what="workers" />
      ) : data.workers.length === 0 ? (
        <Empty title="No workers are running.">
          <CopyLine>passrail up</CopyLine>
        </Empty>
      ) : (
        data.workers.map((worker) => <WorkerPanel key={`${worker.name} ${worker.pid}`} worker={worker} />)
      )}
      <Panel title="Handoffs that no agent accepted">
        <Stale />
      </Panel>
      {data !== undefined && data.disk !== null && <Disk use={data.disk} />}
      <Panel title="Stop without losing work">
        <div className="flex flex-col gap-2 text-sm">
          <p>
            The daemon starts nothing new and exits when the running attempts are done. The next daemon continues the
            runs that wait.
          </p>
          <CopyLine>passrail down --drain</CopyLine>
        </div>
      </Panel>
    </div>
  );
}

type Worker = AnswerTo<"listWorkers">["workers"][number];

function WorkerPanel({ worker }: { readonly worker: Worker }): ReactNode {
  const { name, pid, version, startedAt, slots, labels, state, heardAt, attempts } = worker;
  return (
    <Panel
      title={`Worker ${name}`}
      actions={
        <span className="text-xs text-muted">
          {pid === null ? "another machine" : `process ${pid}`} · version {version} · up <Elapsed since={startedAt} />
          {heardAt !== null && (
            <>
              {" "}
              · heard <Ago at={heardAt} />
            </>
          )}
        </span>
      }
    >
      <p className="mb-3 flex flex-wrap items-center gap-1.5 text-sm">
        <span aria-hidden="true" className="flex flex-wrap gap-1">
          {Array.from({ length: Math.min(slots, 32) }, (_, index) => (
            <span
              // biome-ignore lint/suspicious/noArrayIndexKey: slots have no id besides their place.
              key={index}
              className={`size-3.5 rounded-sm border ${index < attempts.length ? "border-active bg-active" : "border-line bg-sunken"}`}
            />
          ))}
        </span>
        {attempts.length} of {slots} slots in use
        {labels.length > 0 && ` · labels ${labels.join(", ")}`}
        {state !== "open" && ` · ${state}: it gets nothing new`}
      </p>
      {attempts.length === 0 ? (
        <p className="text-sm text-muted">No attempt is running.</p>
      ) : (
        <Table label={`Attempts of worker ${name}`} head={["Run", "Stage", "Agent", "Since"]}>
          {attempts.map((attempt) => (
            <AttemptRow key={`${attempt.runId} ${attempt.stage} ${attempt.attempt}`} attempt={attempt} />
          ))}
        </Table>
      )}
    </Panel>
  );
}

function AttemptRow({ attempt }: { readonly attempt: Worker["attempts"][number] }): ReactNode {
  const run = useQuery(runQuery(attempt.runId)).data;
  return (
    <Row>
      <Cell of="Run" head>
        <AttemptLink run={run?.number ?? attempt.runId} stage={attempt.stage} attempt={attempt.attempt}>
          {run === undefined ? attempt.runId : `#${run.number} `}
          {run !== undefined && <SafeText max={120}>{run.subject.title}</SafeText>}
        </AttemptLink>
      </Cell>
      <Cell of="Stage">
        {attempt.stage}, attempt {attempt.attempt}
      </Cell>
      <Cell of="Agent">
        <SafeText max={80}>{attempt.agent}</SafeText>
      </Cell>
      <Cell of="Since" number>
        <Elapsed since={attempt.since} />
      </Cell>
    </Row>
  );
}

type DiskUse = NonNullable<AnswerTo<"listWorkers">["disk"]>;

function Disk({ use }: { readonly use: DiskUse }): ReactNode {
  const { measuredAt, files, workspaces, store, logs, other } = use;
  const rows = [
    ["Files of attempts", files],
    ["Workspaces", workspaces],
    ["Store", store],
    ["Logs", logs],
    ["Other", other],
  ] as const;
  return (
    <Panel
      title="Disk"
      actions={
        <span className="text-xs text-muted">
          measured <Ago at={measuredAt} />
        </span>
      }
    >
      <Table label="Size of the state folder on disk" head={["What", "Size"]}>
        {rows.map(([name, bytes]) => (
          <Row key={name}>
            <Cell of="What" head>
              {name}
            </Cell>
            <Cell of="Size" number>
              {sizeOfBytes(bytes)}
            </Cell>
          </Row>
        ))}
      </Table>
      <p className="my-2 text-sm text-muted">
        Passrail removes old files of landed work automatically. To see what is due:
      </p>
      <CopyLine>passrail prune --dry-run</CopyLine>
    </Panel>
  );
}

const ROWS_AT_MOST = 100;

function Stale(): ReactNode {
  const { data, error, refetch } = useQuery(staleQuery);
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (data === undefined) return <Loading what="handoffs" />;
  if (!("stale" in data) || data.stale.length === 0)
    return <p className="text-sm text-muted">Agents accepted every handoff in time.</p>;
  return (
    <div className="flex flex-col gap-2">
      <p className="text-sm text-muted">Pending for more than {data.thresholdMinutes} minutes, oldest first.</p>
      <Table label="Handoffs that no agent accepted" head={["Story", "From", "To", "Waiting"]}>
        {data.stale.slice(0, ROWS_AT_MOST).map(({ id, story_id, from_agent, to_agent, created_at }) => (
          <Row key={id}>
            <Cell of="Story" head>
              <Link to="/tickets/$ticket" params={{ ticket: story_id }} search={{ handoff: String(id) }}>
                <SafeText max={100}>{story_id}</SafeText>
              </Link>
            </Cell>
            <Cell of="From">{from_agent ?? "—"}</Cell>
            <Cell of="To">{to_agent ?? "—"}</Cell>
            <Cell of="Waiting" number>
              <Ago at={created_at} />
            </Cell>
          </Row>
        ))}
      </Table>
      {data.stale.length > ROWS_AT_MOST && (
        <p className="text-xs text-muted">
          The first {ROWS_AT_MOST} of {data.stale.length}.
        </p>
      )}
    </div>
  );
}
