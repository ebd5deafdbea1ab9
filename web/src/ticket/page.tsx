// One ticket: how it stands, its place among the others, its text, its file, its story where agents hand it over, its record and its runs.

import { useQuery } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useMemo, useState } from "react";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { useShortcuts } from "../base/keyboard.ts";
import { flowQuery, ticketQuery } from "../base/queries.ts";
import { shownOf } from "../base/status.ts";
import { WaitButtons } from "./wait-buttons.tsx";
import { TicketBadges } from "./ticket-badges.tsx";
import { costText, waitText } from "./ticket-facts.ts";
import { History } from "./history.tsx";
import type { ListedTicket } from "./listed-ticket.ts";
import type { Move } from "./move.ts";
import { MoveDialog } from "./move-dialog.tsx";
import { Story } from "../story/story.tsx";
import { Dependencies } from "./dependencies.tsx";
import { FileFacts } from "./file-facts.tsx";
import { TicketStanding } from "./standing.tsx";
import { Variants } from "./variants.tsx";
import { Button } from "../ui/button.tsx";
import { Markdown } from "../ui/markdown.tsx";
import { PageHead, Panel } from "../ui/panel.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { plain } from "../base/plain-text.ts";
import { Failure, Loading } from "../ui/states.tsx";
import { StatusBadge } from "../ui/status-badge.tsx";
import { clock, useNow } from "../ui/time.tsx";

const EditTicket = lazy(async () => ({ default: (await import("./edit-ticket.tsx")).EditTicket }));

export function TicketPage(): ReactNode {
  const { ticket: id } = useParams({ from: "/tickets/$ticket" });
  const { handoff } = useSearch({ from: "/tickets/$ticket" });
  const { data, error, refetch } = useQuery(ticketQuery(id));
  const flow = useQuery({ ...flowQuery(data?.flow ?? ""), enabled: data !== undefined });
  const now = useNow(15_000);
  const [moving, setMoving] = useState<{ readonly first: Move | undefined } | null>(null);
  const [isEditing, setEditing] = useState(false);
  const shortcuts = useMemo(
    () => [
      { keys: "m", does: "Move the ticket", group: "Ticket", act: () => setMoving({ first: undefined }) },
      { keys: "e", does: "Edit the ticket", group: "Ticket", act: () => setEditing(true) },
    ],
    [],
  );
  useShortcuts(shortcuts);
  if (data === undefined)
    return (
      <>
        <PageHead title={<SafeText max={80}>{id}</SafeText>} />
        {error === null ? <Loading what="the ticket" /> : <Failure error={error} retry={() => void refetch()} />}
      </>
    );
  const onMove = (_ticket: ListedTicket, first?: Move): void => setMoving({ first });
  const story = flow.data?.story ?? null;
  return (
    <>
      <PageHead title={<SafeText max={200}>{data.title}</SafeText>}>
        <span className="text-sm font-medium">
          <SafeText max={80}>{data.word}</SafeText>
        </span>
        <TicketBadges ticket={data} now={now} />
        {data.file !== null && (
          <Button onClick={() => setEditing(true)} keys="e">
            Edit
          </Button>
        )}
        <Button onClick={() => setMoving({ first: undefined })} keys="m">
          Move
        </Button>
      </PageHead>
      <div className="flex flex-col gap-4">
        <p className="flex flex-wrap gap-x-4 gap-y-1 text-sm text-muted">
          <span className="font-mono">
            <SafeText max={200}>{data.id}</SafeText>
          </span>
          <Link to="/board" search={{ flow: data.flow, ticket: data.id }}>
            On the board
          </Link>
          {data.newest !== null && <span>Cost {costText(data.cost)}</span>}
          {data.pullRequest !== null && (
            <a href={data.pullRequest} target="_blank" rel="noopener noreferrer nofollow">
              Pull request
            </a>
          )}
          {data.landed !== null && <Landed landed={data.landed} />}
        </p>
        {data.waits.length > 0 && (
          <Panel title="It waits for you">
            <div className="flex flex-col gap-2 text-sm">
              {data.waits.map((item) => (
                <p key={item.id}>
                  <Link to="/g/$item" params={{ item: item.id }}>
                    <SafeText max={200}>{waitText(item)}</SafeText>
                  </Link>
                </p>
              ))}
              <WaitButtons ticket={data} onMove={onMove} />
            </div>
          </Panel>
        )}
        {data.file !== null && <TicketStanding ticket={data} file={data.file} />}
        {story !== null && <Story id={data.id} agents={story} handoff={handoff} />}
        {data.file !== null && (
          <Panel title="Dependencies">
            <Dependencies id={data.id} graph={data.graph} />
          </Panel>
        )}
        {data.variants.length > 0 && (
          <Panel title={`Variants · ${data.variants.length}`}>
            <Variants id={data.id} variants={data.variants} />
          </Panel>
        )}
        <div className="grid gap-4 lg:grid-cols-2 lg:items-start">
          <Panel title="What is to be done">
            {data.body.trim() === "" ? (
              <p className="text-sm text-muted">The title says it all.</p>
            ) : (
              <Markdown>{data.body}</Markdown>
            )}
          </Panel>
          <div className="flex flex-col gap-4">
            {data.file !== null && (
              <Panel title="File">
                <FileFacts file={data.file} frontMatter={data.frontMatter} />
              </Panel>
            )}
            {data.feature !== null && <Record feature={data.feature} />}
            <Runs ticket={data} />
          </div>
        </div>
      </div>
      {isEditing && data.file !== null && (
        <Suspense>
          <EditTicket ticket={data} file={data.file} close={() => setEditing(false)} />
        </Suspense>
      )}
      {moving !== null && <MoveDialog ticket={data} first={moving.first} close={() => setMoving(null)} />}
    </>
  );
}

type TicketDetail = AnswerTo<"showTicket">;

/** The record of source 000, under its own names. */
function Record({ feature }: { readonly feature: NonNullable<TicketDetail["feature"]> }): ReactNode {
  return (
    <Panel title="Record">
      <div className="flex flex-col gap-3 text-sm">
        <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1">
          <dt className="font-mono text-muted">status</dt>
          <dd>
            <SafeText max={80}>{feature.status}</SafeText>
          </dd>
          <dt className="font-mono text-muted">revision_count</dt>
          <dd className="tabular">{feature.revision_count}</dd>
          <dt className="font-mono text-muted">current_agent</dt>
          <dd>{feature.current_agent === null ? "—" : <SafeText max={80}>{feature.current_agent}</SafeText>}</dd>
        </dl>
        <History log={feature.pipeline_log} />
      </div>
    </Panel>
  );
}

/** Where its work went, and how. */
function Landed({ landed: { commit, branch, target, how } }: { readonly landed: NonNullable<TicketDetail["landed"]> }) {
  const [words, place] = how === "push" ? [WENT["push"], branch] : [WENT[how ?? ""] ?? "Went to", target];
  return (
    <span>
      {words} {plain(place ?? "?", 80)}
      {commit !== null && (
        <>
          {" as "}
          <code>{plain(commit.slice(0, 10))}</code>
        </>
      )}
    </span>
  );
}

const WENT: Readonly<Record<string, string>> = {
  push: "Pushed to",
  land: "Landed in",
  pr: "Proposed for",
  merged: "Merged into",
  forced: "Said to be merged into",
};

const RUNS_SHOWN = 50;

function Runs({ ticket }: { readonly ticket: TicketDetail }): ReactNode {
  return (
    <Panel title={`Runs · ${ticket.runs}`}>
      {ticket.runs === 0 && <p className="text-sm text-muted">No run was made of it yet.</p>}
      <ul className="flex flex-col divide-y divide-line text-sm">
        {ticket.history.slice(0, RUNS_SHOWN).map((run) => (
          <li key={run.id} className="flex flex-wrap items-center gap-x-3 gap-y-1 py-1.5">
            <Link
              to="/runs/$run"
              params={{ run: String(run.number) }}
              className="inline-flex items-center font-medium pointer-coarse:min-h-11"
            >
              #{run.number}
            </Link>
            <StatusBadge is={shownOf(run)} />
            <span className="text-muted">
              <SafeText max={80}>{run.word}</SafeText>
            </span>
            <time dateTime={run.createdAt} className="tabular ml-auto text-xs text-muted">
              {clock(run.createdAt)}
            </time>
          </li>
        ))}
      </ul>
      {ticket.runs > RUNS_SHOWN && <p className="pt-2 text-xs text-muted">The newest {RUNS_SHOWN} are shown.</p>}
    </Panel>
  );
}
