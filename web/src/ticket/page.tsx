// The page of one ticket: its state, dependencies, description, file, story, record and runs.

import { useQuery } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useMemo, useState } from "react";
import { waitText } from "../../../src/core/view/wait-text.ts";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { useShortcuts } from "../base/keyboard.ts";
import { flowQuery, ticketQuery } from "../base/queries.ts";
import { shownOf, shownOfStatus } from "../base/status.ts";
import { WaitButtons } from "./wait-buttons.tsx";
import { TicketBadges } from "./ticket-badges.tsx";
import { costText, shortId } from "./ticket-facts.ts";
import { History } from "./history.tsx";
import type { ListedTicket } from "./listed-ticket.ts";
import type { Move, MoveTicket } from "./move.ts";
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
import { tip } from "../ui/tip.ts";

const EditTicket = lazy(async () => ({ default: (await import("./edit-ticket.tsx")).EditTicket }));

export function TicketPage(): ReactNode {
  const { ticket: id } = useParams({ from: "/tickets/$ticket" });
  const { data, error, refetch } = useQuery(ticketQuery(id));
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
      <Deps ticket={data} onMove={onMove} />
      {isEditing && data.file !== null && (
        <Suspense>
          <EditTicket ticket={data} file={data.file} close={() => setEditing(false)} />
        </Suspense>
      )}
      {moving !== null && <MoveDialog ticket={data} first={moving.first} close={() => setMoving(null)} />}
    </>
  );
}

function Deps({ ticket, onMove }: { readonly ticket: TicketDetail; readonly onMove: MoveTicket }): ReactNode {
  const { handoff } = useSearch({ from: "/tickets/$ticket" });
  const story = useQuery(flowQuery(ticket.flow)).data?.story ?? null;
  const { file, variants } = ticket;
  return (
    <div className="flex flex-col gap-4">
      <Facts ticket={ticket} />
      {ticket.waits.length > 0 && <Waits ticket={ticket} onMove={onMove} />}
      {file !== null && <TicketStanding ticket={ticket} file={file} />}
      {story !== null && <Story id={ticket.id} agents={story} handoff={handoff} />}
      {file !== null && (
        <Panel title="Dependencies">
          <Dependencies id={ticket.id} graph={ticket.graph} />
        </Panel>
      )}
      {variants.length > 0 && (
        <Panel title={`Variants · ${variants.length}`} actions={<CompareLink variants={variants} />}>
          <Variants id={ticket.id} variants={variants} />
        </Panel>
      )}
      <div className="grid grid-cols-1 gap-4 lg:grid-cols-2 lg:items-start">
        <Panel title="What to do">
          {ticket.body.trim() === "" ? (
            <p className="text-sm text-muted">No description.</p>
          ) : (
            <Markdown>{ticket.body}</Markdown>
          )}
        </Panel>
        <div className="flex flex-col gap-4">
          {file !== null && (
            <Panel title="File">
              <FileFacts file={file} frontMatter={ticket.frontMatter} />
            </Panel>
          )}
          {ticket.feature !== null && <Record feature={ticket.feature} />}
          <Runs ticket={ticket} />
        </div>
      </div>
    </div>
  );
}

/** Their newest runs side by side; a variant without a run has nothing to compare yet. */
function CompareLink({ variants }: Pick<TicketDetail, "variants">): ReactNode {
  const runs = variants.flatMap(({ newest }) => newest?.number ?? []);
  if (runs.length < 2) return null;
  return (
    <Link
      to="/compare"
      search={{ runs: runs.join(",") }}
      className="inline-flex items-center text-sm pointer-coarse:min-h-11"
    >
      Compare side by side
    </Link>
  );
}

function Facts({ ticket }: { readonly ticket: TicketDetail }): ReactNode {
  return (
    <p className="flex flex-wrap gap-x-4 gap-y-1 text-sm text-muted">
      <span {...tip(plain(ticket.id))} className="min-w-0 font-mono [overflow-wrap:anywhere]">
        <SafeText max={200}>{shortId(ticket.id)}</SafeText>
      </span>
      <Link to="/work" search={{ view: "board", ticket: ticket.id }}>
        On the board
      </Link>
      {ticket.newest !== null && ticket.cost.usd > 0 && <span>Cost {costText(ticket.cost)}</span>}
      {ticket.pullRequest !== null && (
        <a href={ticket.pullRequest} target="_blank" rel="noopener noreferrer nofollow">
          Pull request
        </a>
      )}
      {ticket.landed !== null && <Landed landed={ticket.landed} />}
    </p>
  );
}

function Waits({ ticket, onMove }: { readonly ticket: TicketDetail; readonly onMove: MoveTicket }): ReactNode {
  return (
    <Panel title="Waiting for you">
      <div className="flex flex-col gap-2 text-sm">
        {ticket.waits.map((item) => (
          <p key={item.id}>
            <Link to="/g/$item" params={{ item: item.id }}>
              <SafeText max={200}>{waitText(item)}</SafeText>
            </Link>
          </p>
        ))}
        <WaitButtons ticket={ticket} onMove={onMove} />
      </div>
    </Panel>
  );
}

type TicketDetail = AnswerTo<"showTicket">;

/** The record of source 000 in plain words; the API has it under that source's names. */
function Record({ feature }: { readonly feature: NonNullable<TicketDetail["feature"]> }): ReactNode {
  return (
    <Panel title="Record">
      <div className="flex flex-col gap-3 text-sm">
        <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-4 gap-y-1">
          <dt className="text-muted">Status</dt>
          <dd>
            <SafeText max={80}>{feature.status}</SafeText>
          </dd>
          <dt className="text-muted">Revisions</dt>
          <dd className="tabular">{feature.revision_count}</dd>
          <dt className="text-muted">Agent</dt>
          <dd>{feature.current_agent === null ? "—" : <SafeText max={80}>{feature.current_agent}</SafeText>}</dd>
        </dl>
        <History log={feature.pipeline_log} />
      </div>
    </Panel>
  );
}

/** Where its commits are, and how they got there. */
function Landed({ landed: { commit, branch, target, how } }: { readonly landed: NonNullable<TicketDetail["landed"]> }) {
  const [words, place] = how === "push" ? [WENT["push"], branch] : [WENT[how ?? ""] ?? "Delivered to", target];
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
  forced: "Marked as merged into",
};

const RUNS_SHOWN = 50;

function Runs({ ticket }: { readonly ticket: TicketDetail }): ReactNode {
  return (
    <Panel title={`Runs · ${ticket.runs}`}>
      {ticket.runs === 0 && <p className="text-sm text-muted">No runs yet.</p>}
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
            <StatusBadge
              is={
                run.id === ticket.newest?.id && ticket.state !== null
                  ? shownOf({ state: ticket.state, loops: ticket.loops })
                  : shownOfStatus(run.status)
              }
            />
            <span className="text-muted">
              <SafeText max={80}>{run.word}</SafeText>
            </span>
            <time dateTime={run.createdAt} className="tabular ml-auto text-xs text-muted">
              {clock(run.createdAt)}
            </time>
          </li>
        ))}
      </ul>
      {ticket.runs > RUNS_SHOWN && (
        <p className="pt-2 text-xs text-muted">Only the newest {RUNS_SHOWN} runs are shown.</p>
      )}
    </Panel>
  );
}
