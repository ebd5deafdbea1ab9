// The evidence for a decision: the last verdict of each stage, loops, cost, and the commit.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { itemQuery, runQuery } from "../base/queries.ts";
import type { IconName, Tone } from "../base/status.ts";
import { LineCount } from "../diff/line-count.tsx";
import { diffQuery, FIRST } from "../diff/query.ts";
import { hidesSpaces } from "../diff/use-spaces.ts";
import { SafeText } from "../ui/safe-text.tsx";
import { Failure, Loading } from "../ui/states.tsx";
import { Badge } from "../ui/status-badge.tsx";
import { duration, usd } from "../ui/time.tsx";
import { Issues } from "./issues.tsx";
import type { WaitingItem } from "./types.ts";
import { tip } from "../ui/tip.ts";
import { ChevronRight } from "lucide-react";
import { Icon } from "../ui/icon.tsx";

type Stage = AnswerTo<"showRun">["stages"][number];
type Attempt = Stage["attempts"][number];

/** One line: branch, commit, cost, loops. */
export function Facts({ item }: { readonly item: WaitingItem }): ReactNode {
  const loops = item.loops.filter((each) => each.loops > 0);
  // The list of branches below names it, once it is there.
  const hasWork = (useQuery(itemQuery(item.id)).data?.work.length ?? 0) > 0;
  return (
    <dl className="flex flex-wrap gap-x-5 gap-y-1 text-sm">
      <Fact name="Run">
        <Link to="/runs/$run" params={{ run: String(item.runNumber) }} className="underline">
          #{item.runNumber}
        </Link>{" "}
        · {item.flow}
      </Fact>
      <Fact name="Status">{item.word}</Fact>
      {item.branch !== null && !hasWork && (
        <Fact name="Branch">
          <code className="font-mono text-xs [overflow-wrap:anywhere]">
            <SafeText max={200}>{item.branch}</SafeText>
          </code>
        </Fact>
      )}
      {item.commit !== null && !hasWork && (
        <Fact name="Commit">
          <code {...tip(item.commit)} className="font-mono text-xs">
            {item.commit.slice(0, 10)}
          </code>
        </Fact>
      )}
      <DiffStat runId={item.runId} />
      <Fact name="Cost so far">
        {usd(item.spent.usd)}
        {!item.spent.isWhole && item.spent.usd !== null && (
          <span {...tip("Some attempts did not report their cost.")}> plus unknown cost</span>
        )}
      </Fact>
      {loops.map(({ counter, loops: count, max }) => (
        <Fact key={counter} name={`Loop ${counter}`}>
          {count}
          {max === null ? "" : ` of ${max}`}
        </Fact>
      ))}
    </dl>
  );
}

/** The size of the changes that are shown below, with a link to them. Its place is kept until it is known. */
function DiffStat({ runId }: { readonly runId: string }): ReactNode {
  const { data } = useQuery(diffQuery({ run: runId, source: null, wanted: FIRST, hidesSpaces: hidesSpaces() }));
  const files = data?.stat.files ?? 0;
  if (data !== undefined && files === 0) return null;
  return (
    <Fact name={data?.of === "review" ? "Since your last decision" : "Changes"}>
      {data === undefined ? (
        <span className="text-muted">…</span>
      ) : (
        <>
          <a href="#changes" className="underline">
            {files} {files === 1 ? "file" : "files"}
          </a>{" "}
          <LineCount added={data.stat.added} removed={data.stat.removed} />
          {data.stat.isCut && " and more"}
        </>
      )}
    </Fact>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactNode {
  return (
    <div className="flex items-baseline gap-1.5">
      <dt className="text-muted">{name}</dt>
      <dd className="m-0">{children}</dd>
    </div>
  );
}

/** The last verdict of every stage that has worked; its reasons and issues open on demand. */
export function Verdicts({ runId }: { readonly runId: string }): ReactNode {
  const { data, error, isPending, refetch } = useQuery(runQuery(runId));
  if (error !== null) return <Failure error={error} retry={() => void refetch()} />;
  if (isPending) return <Loading what="verdicts" />;
  const worked = data.stages.flatMap((stage) => {
    const last = stage.attempts.at(-1);
    return last === undefined ? [] : [{ stage, last }];
  });
  return (
    <div className="flex flex-col gap-2">
      {worked.length === 0 ? (
        <p className="text-sm text-muted">No agent has worked on this yet.</p>
      ) : (
        <ul className="flex flex-col divide-y divide-line rounded-md border border-line">
          {worked.map(({ stage, last }) => (
            <li key={`${stage.track}.${stage.id}`}>
              <Verdict stage={stage} last={last} />
            </li>
          ))}
        </ul>
      )}
      {data.subject.body !== "" && (
        // Before the first stage has worked it is the only basis of the decision.
        <details className="text-sm" open={worked.length === 0}>
          <summary className="min-h-9 cursor-pointer py-1.5 pointer-coarse:min-h-11">The ticket</summary>
          <p className="rounded-md bg-sunken p-3 whitespace-pre-wrap [overflow-wrap:anywhere]">
            <SafeText>{data.subject.body}</SafeText>
          </p>
        </details>
      )}
    </div>
  );
}

function Verdict({ stage, last }: { readonly stage: Stage; readonly last: Attempt }): ReactNode {
  const { icon, tone, word } = shownVerdict(last);
  const took =
    last.startedAt === null || last.endedAt === null
      ? undefined
      : duration(Date.parse(last.endedAt) - Date.parse(last.startedAt));
  const words = [last.reason, last.summary].filter((text) => text !== null && text !== "");
  return (
    <details className="group text-sm">
      <summary className="flex min-h-9 cursor-pointer flex-wrap items-center gap-x-2 gap-y-1 px-3 py-1.5 pointer-coarse:min-h-11">
        <ChevronRight aria-hidden="true" className="size-4 shrink-0 text-muted group-open:rotate-90" />
        <span className="font-medium">{stage.id}</span>
        {stage.who !== stage.id && <span className="text-muted">{stage.who}</span>}
        <Badge tone={tone}>
          <Icon name={icon} />
          {word}
        </Badge>
        {last.issues.length > 0 && (
          <span className="text-muted">
            {last.issues.length} {last.issues.length === 1 ? "issue" : "issues"}
          </span>
        )}
        <span className="tabular ml-auto text-xs text-muted">
          {[
            ...(last.attempt > 1 ? [`attempt ${last.attempt}`] : []),
            ...(took === undefined ? [] : [took]),
            ...(last.usage?.usd == null ? [] : [usd(last.usage.usd)]),
          ].join(" · ")}
        </span>
      </summary>
      <div className="flex flex-col gap-2 px-3 pb-3 pl-8">
        {words.map((text) => (
          <p key={text} className="whitespace-pre-wrap [overflow-wrap:anywhere]">
            <SafeText max={16_384}>{text ?? ""}</SafeText>
          </p>
        ))}
        <Issues issues={last.issues} />
        {words.length === 0 && last.issues.length === 0 && <p className="text-muted">No reasons given.</p>}
      </div>
    </details>
  );
}

function shownVerdict({ health, verdict, word, status }: Attempt): { icon: IconName; tone: Tone; word: string } {
  if (health === null) return { icon: "circle", tone: "quiet", word: status };
  const shown = word ?? verdict ?? health;
  if (health === "blocked") return { icon: "question", tone: "attention", word: shown };
  if (health !== "complete") return { icon: "cross", tone: "bad", word: shown };
  if ((verdict ?? "pass") === "pass") return { icon: "check", tone: "good", word: word ?? "done" };
  return verdict === "revise" || verdict === "redesign"
    ? { icon: "back", tone: "warning", word: shown }
    : { icon: "cross", tone: "bad", word: shown };
}
