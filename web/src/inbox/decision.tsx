// One waiting item of any kind: the evidence, and beside it the question, the answer form and what follows from it. The answer is bound to the version that the
// person saw; if something has changed since, the page asks them to look again.

import { useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { useLiveState } from "../base/live/live.ts";
import { itemQuery } from "../base/queries.ts";
import { undoSeconds } from "../base/undo-time.ts";
import { hold } from "../settle/held.ts";
import { Button } from "../ui/button.tsx";
import { Findings } from "../ui/findings.tsx";
import { Panel } from "../ui/panel.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Badge } from "../ui/status-badge.tsx";
import { Ago, clock } from "../ui/time.tsx";
import { AnswerForm } from "./answer-form.tsx";
import { Beside } from "./beside.tsx";
import { Briefing } from "./briefing.tsx";
import { Checks } from "./checks.tsx";
import { Closed } from "./closed.tsx";
import { useDraft } from "./draft.ts";
import { Facts, Verdicts } from "./evidence.tsx";
import { Issues } from "./issues.tsx";
import { RunChanges } from "./run-changes.tsx";
import { heldAnswer } from "./send-held.ts";
import type { Changed, WaitingItem } from "./types.ts";
import { Work } from "./work.tsx";
import { type Given, useAnswer } from "./use-answer.ts";
import { approvalOf, headOf, KINDS, labelOf, leadText, nameOf } from "./words.ts";
import { Icon } from "../ui/icon.tsx";

export type DecisionProps = {
  /** Use the item's id as the key: the version and the draft belong to one item. */
  readonly item: WaitingItem;
  /** Called when this person or another one has decided. */
  readonly onDecided: () => void;
};

export function Decision({ item, onDecided }: DecisionProps): ReactNode {
  const [seen, setSeen] = useState(item.version);
  const [draft, change, clear] = useDraft(item.id);
  const sending = useAnswer(item, seen);
  const isLive = useLiveState().is === "live";
  const outcome = sending.data;
  if (outcome?.type === "late")
    return (
      <div className="flex flex-col gap-4">
        <Head item={item} />
        <Closed decided={outcome.decided} detail={outcome.detail} />
        <Button onClick={onDecided}>Continue</Button>
      </div>
    );
  // The item itself is asked for when it opens, and then more often than the list.
  const asked = useQuery(itemQuery(item.id));
  const latest = asked.isFetchedAfterMount ? (asked.data?.version ?? item.version) : item.version;
  const moved = outcome?.type === "moved" ? outcome.changed : commitOf(seen) === commitOf(latest) ? undefined : MOVED;
  const lookAgain = (): void => {
    setSeen(latest);
    sending.reset();
    void asked.refetch();
  };
  const send = (given: Given): void => {
    const seconds = undoSeconds();
    // Without a connection an act fails at once, not after ten seconds. An answer to an agent that waits is sent without a time for undo.
    if (seconds > 0 && isLive && item.waitsUntil === null) {
      hold(heldAnswer(item, seen, given), seconds * 1000);
      return onDecided();
    }
    sending.mutate(given, {
      onSuccess: (became) => {
        if (became.type !== "taken") return;
        clear();
        onDecided();
      },
    });
  };
  return (
    <Beside
      id={item.id}
      label={item.kind === "question" ? "Your answer" : "Your decision"}
      head={
        <>
          <Head item={item} />
          <Approval item={item} />
          {item.waitsUntil !== null && <AgentWaits until={item.waitsUntil} />}
          {moved === undefined ? (
            <Unjudged moved={asked.data?.moved ?? null} />
          ) : (
            <Moved changed={moved} wasSent={outcome?.type === "moved"} lookAgain={lookAgain} />
          )}
        </>
      }
      verbs={
        <AnswerForm
          item={item}
          draft={draft}
          change={change}
          isSending={sending.isPending}
          isStale={moved !== undefined}
          error={outcome?.type === "failed" ? outcome.error : null}
          send={send}
        />
      }
      after={<Leads item={item} />}
      evidence={<EvidenceOf item={item} draft={draft} change={change} />}
    />
  );
}

function AgentWaits({ until }: { readonly until: string }): ReactNode {
  return (
    <p className="text-sm text-attention">
      The agent waits for your answer until {clock(until)}. A later answer goes to its next attempt.
    </p>
  );
}

/** The evidence of the decision. */
function EvidenceOf({ item, draft, change }: ReviewProps): ReactNode {
  const takesComments = item.kind === "gate" || item.kind === "escalation";
  return (
    <>
      <Facts item={item} />
      <Work item={item.id} />
      {item.kind === "escalation" && <Asked item={item} />}
      {takesComments && <Checks item={item.id} />}
      {item.kind === "gate" && <Briefing item={item.id} />}
      {item.kind !== "escalation" && <Asked item={item} />}
      {item.findings.length > 0 && (
        <Panel title={item.kind === "escalation" ? "Findings: both sides" : "Open findings"}>
          <Findings findings={item.findings} />
        </Panel>
      )}
      <RunChanges
        run={item.runId}
        isExpected={item.said !== null}
        {...(takesComments ? { review: { ...draft, onReview: change } } : {})}
      />
      <Panel title="Verdicts">
        <Verdicts runId={item.runId} />
      </Panel>
    </>
  );
}

const MOVED: Changed = [{ type: "commit.moved", at: "" }];

function commitOf(version: string): string {
  return version.slice(version.indexOf("-") + 1);
}

function Head({ item }: { readonly item: WaitingItem }): ReactNode {
  const { word, icon, tone } = KINDS[item.kind];
  return (
    <header className="flex flex-col gap-1.5">
      <p className="flex flex-wrap items-center gap-2 text-sm text-muted">
        <Badge tone={tone}>
          <Icon name={icon} />
          {word}
        </Badge>
        <span>
          waits for {nameOf(item.who)} · <Ago at={item.openedAt} />
        </span>
      </p>
      <h2
        id="decision-head"
        tabIndex={-1}
        className="text-lg font-semibold tracking-tight outline-none [overflow-wrap:anywhere]"
      >
        <SafeText max={600}>{headOf(item)}</SafeText>
      </h2>
    </header>
  );
}

/** The questions; for a gate, the notes to read before the decision. */
function Asked({ item }: { readonly item: WaitingItem }): ReactNode {
  const issues = unlisted(item);
  if (item.asks.length === 0 && issues.length === 0) return null;
  const isNote = item.kind === "gate";
  return (
    <div
      className={`rounded-md border px-4 py-3 text-sm ${isNote ? "border-warning bg-warning-soft" : "border-line bg-panel"}`}
    >
      {isNote && <p className="mb-1 font-medium text-warning">Before you decide</p>}
      {item.why !== null && (
        <p className="[overflow-wrap:anywhere]">
          <SafeText max={2000}>{item.why}</SafeText>
        </p>
      )}
      <ol className={item.kind === "question" && item.asks.length > 1 ? "list-decimal pl-5" : ""}>
        {(item.why === null ? item.asks : []).map((text) => (
          <li key={text} className="whitespace-pre-wrap [overflow-wrap:anywhere]">
            <SafeText max={16_384}>{text}</SafeText>
          </li>
        ))}
      </ol>
      {issues.length > 0 && (
        <div className="mt-2">
          <p className="mb-1 font-medium">Open issues</p>
          <Issues issues={issues} />
        </div>
      )}
    </div>
  );
}

/** Issues that are not among the findings with an id. */
function unlisted({ issues, findings }: WaitingItem): readonly unknown[] {
  const texts = new Set(findings.map(({ text }) => text));
  return issues.filter((issue) => {
    const said = typeof issue === "object" && issue !== null && "description" in issue ? issue.description : issue;
    return typeof said !== "string" || !texts.has(said.trim());
  });
}

/** The effect of an approval on the work: a gate called "merge" may merge nothing. */
function Approval({ item }: { readonly item: WaitingItem }): ReactNode {
  const landing = approvalOf(item);
  if (landing === null) return null;
  return (
    <p
      className={`rounded-md border-l-4 px-3 py-2 text-sm [overflow-wrap:anywhere] ${landing.way === "land" ? "border-ink bg-sunken" : "border-line bg-sunken"}`}
    >
      <strong className="font-medium">If you approve: </strong>
      <SafeText max={600}>{landing.text}</SafeText>
    </p>
  );
}

function Leads({ item }: { readonly item: WaitingItem }): ReactNode {
  // The landing is described above; a line about Passrail's own next stage would say less.
  const leads = item.leads.filter(({ lands, to }) => lands === null || lands !== approvalOf(item) || to === "end");
  if (leads.length === 0) return null;
  return (
    <dl className="flex flex-col gap-1 text-sm text-muted">
      {leads.map((lead) => (
        <div key={lead.answer} className="flex gap-1.5">
          <dt className="shrink-0">{labelOf(lead, item.kind)}:</dt>
          <dd className="m-0 min-w-0 [overflow-wrap:anywhere]">
            {leadText(lead, item.word)}
            {lead.lands !== null && lead.lands !== approvalOf(item) && ` ${lead.lands.text}`}
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** The branch has commits since the last stage: no stage has judged what a person would now accept. */
function Unjudged({ moved }: { readonly moved: AnswerTo<"showItem">["moved"] }): ReactNode {
  if (moved === null) return null;
  return (
    <p className="rounded-md border border-warning bg-warning-soft px-3 py-2 text-sm text-warning [overflow-wrap:anywhere]">
      <strong className="font-medium">The branch moved after the last stage.</strong> The stages judged{" "}
      <code className="font-mono text-xs">{moved.from.slice(0, 12)}</code>;{" "}
      <code className="font-mono text-xs">
        <SafeText max={120}>{moved.branch}</SafeText>
      </code>{" "}
      is at <code className="font-mono text-xs">{moved.to.slice(0, 12)}</code> now.
    </p>
  );
}

type MovedProps = { readonly changed: Changed; readonly wasSent: boolean; readonly lookAgain: () => void };

function Moved({ changed, wasSent, lookAgain }: MovedProps): ReactNode {
  return (
    <div
      role="alert"
      className="flex flex-col items-start gap-2 rounded-md border border-warning bg-warning-soft p-4 text-sm"
    >
      <p className="font-medium text-warning">
        <Icon name="warning" className="mr-1 inline" />
        {wasSent
          ? "This changed after you opened it. Your decision was not sent."
          : "This changed after you opened it. Look at it again before you decide."}
      </p>
      <ul className="list-disc pl-5">
        {changed.map(({ type, at, stage }) => (
          <li key={`${type} ${at} ${stage ?? ""}`}>
            {type === "commit.moved" ? "The branch moved to another commit." : type}
            {stage !== undefined && ` (${stage})`}
            {at !== "" && <span className="text-muted"> {clock(at)}</span>}
          </li>
        ))}
      </ul>
      <Button onClick={lookAgain}>I have looked at it again</Button>
    </div>
  );
}

type ReviewProps = {
  readonly item: WaitingItem;
  readonly draft: ReturnType<typeof useDraft>[0];
  readonly change: ReturnType<typeof useDraft>[1];
};
