// One of the compared runs. All columns have the same parts in the same rows, so that the eye can go across.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { standingOf } from "../run/standing.ts";
import type { RunAttempt, RunDetail } from "../run/types.ts";
import { SafeText } from "../ui/safe-text.tsx";
import { Badge, StatusBadge } from "../ui/status-badge.tsx";
import { Elapsed, usd } from "../ui/time.tsx";

type Props = {
  readonly run: RunDetail;
  /** Undefined until it is known. */
  readonly diff: AnswerTo<"runDiff"> | undefined;
  readonly choosing: ReactNode;
};

export function Column({ run, diff, choosing }: Props): ReactNode {
  const { is } = standingOf(run);
  const open = run.findings.filter(({ state }) => state === "open" || state === "accepted");
  return (
    <section
      aria-label={`Run #${run.number}`}
      className="flex min-w-0 flex-col gap-3 rounded-lg border border-line bg-panel p-4 text-sm md:row-span-8 md:grid md:grid-rows-subgrid md:gap-3"
    >
      <header className="flex min-w-0 flex-col items-start gap-1">
        <h2 className="min-w-0 text-base font-semibold [overflow-wrap:anywhere]">
          <Link to="/runs/$run" params={{ run: String(run.number) }} className="text-ink">
            #{run.number} <SafeText max={200}>{run.subject.title}</SafeText>
          </Link>
        </h2>
        <StatusBadge is={is} />
        <p className="text-xs text-muted [overflow-wrap:anywhere]">
          <SafeText max={80}>{run.flow}</SafeText> · {players(run)}
        </p>
      </header>
      <div>{choosing}</div>
      <Part name="Changes">
        {diff === undefined ? (
          "…"
        ) : diff.files.length === 0 ? (
          "None"
        ) : (
          <Link to="/runs/$run" params={{ run: String(run.number) }} search={{ tab: "changes" }} className="tabular">
            {diff.files.length} {diff.files.length === 1 ? "file" : "files"}, +{diff.added} −{diff.removed}
          </Link>
        )}
      </Part>
      <Part name="Checks and evidence">
        <Evidence lines={run.evidence} />
      </Part>
      <Part name="Last verdicts">
        <Verdicts run={run} />
      </Part>
      <Part name={`Findings · ${open.length} open of ${run.findings.length}`}>
        {open.length === 0 ? (
          "None open"
        ) : (
          <ul className="flex flex-col gap-0.5">
            {open.slice(0, SHOWN).map(({ id, severity, text }) => (
              <li key={id} className="[overflow-wrap:anywhere]">
                <span className="font-mono text-xs">{id}</span>{" "}
                {severity !== null && <span className="text-muted">{severity} </span>}
                <SafeText max={200}>{text}</SafeText>
              </li>
            ))}
            {open.length > SHOWN && <li className="text-muted">and {open.length - SHOWN} more</li>}
          </ul>
        )}
      </Part>
      <Part name="Cost">
        <span className="tabular">{cost(run)}</span>
      </Part>
      <Part name="Time">
        <Elapsed since={run.createdAt} until={run.endedAt} />
      </Part>
    </section>
  );
}

const SHOWN = 6;

function Part({ name, children }: { readonly name: string; readonly children: ReactNode }): ReactNode {
  return (
    <div className="min-w-0">
      <h3 className="text-xs font-semibold text-muted">{name}</h3>
      <div className="min-w-0 [overflow-wrap:anywhere]">{children}</div>
    </div>
  );
}

function Evidence({ lines }: { readonly lines: RunDetail["evidence"] }): ReactNode {
  if (lines.length === 0) return "None";
  return (
    <ul className="flex flex-col gap-1">
      {lines.slice(0, SHOWN).map(({ what, state, isGood, stage, attempt }, at) => (
        <li key={`${stage} ${attempt} ${at}`} className="flex min-w-0 flex-wrap items-baseline gap-1.5">
          <Badge tone={isGood === false || state === "missing" ? "bad" : state === "run" ? "good" : "quiet"}>
            {state === "run" ? (isGood === true ? "passed" : "failed") : state}
          </Badge>
          <SafeText max={120}>{what}</SafeText>
        </li>
      ))}
      {lines.length > SHOWN && <li className="text-muted">and {lines.length - SHOWN} more</li>}
    </ul>
  );
}

function Verdicts({ run }: { readonly run: RunDetail }): ReactNode {
  const last = run.stages.flatMap(({ id, attempts }) => {
    const attempt = attempts.findLast(({ status }) => status === "done");
    return attempt === undefined ? [] : [{ id, attempt }];
  });
  if (last.length === 0) return "None yet";
  return (
    <ul className="flex flex-col">
      {last.map(({ id, attempt }) => (
        <li key={id}>
          <span className="text-muted">
            <SafeText max={60}>{id}</SafeText>
            {attempt.attempt > 1 && ` #${attempt.attempt}`}
          </span>{" "}
          <SafeText max={60}>{verdictOf(attempt)}</SafeText>
        </li>
      ))}
    </ul>
  );
}

function verdictOf({ word, verdict, health }: RunAttempt): string {
  return word ?? verdict ?? health ?? "—";
}

/** The programs and models that worked. */
function players({ stages }: RunDetail): string {
  const known = stages.flatMap(({ attempts }) =>
    attempts.flatMap(({ runner, model }) => (runner === null ? [] : [model === null ? runner : `${runner} ${model}`])),
  );
  return [...new Set(known)].join(", ") || "no agent yet";
}

/** Unknown is a dash, never a zero. */
function cost({ spent }: RunDetail): string {
  if (spent === null || (spent.usd === 0 && spent.unknownUsd > 0)) return "—";
  return `${usd(spent.usd)}${spent.unknownUsd > 0 ? " and more, not known" : ""} · ${spent.tokens.toLocaleString()} tokens`;
}
