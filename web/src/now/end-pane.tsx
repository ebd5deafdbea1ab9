// A loose end beside the list: its cause, and the buttons that settle it.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense } from "react";
import { whoQuery } from "../base/queries.ts";
import { Beside } from "../inbox/beside.tsx";
import { Verdicts } from "../inbox/evidence.tsx";
import { RunChanges } from "../inbox/run-changes.tsx";
import { mayNot, nameOf } from "../settle/acts.ts";
import { Verbs } from "../settle/verbs.tsx";
import { CopyLine } from "../ui/copy-line.tsx";
import { Panel } from "../ui/panel.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Loading } from "../ui/states.tsx";
import { Badge } from "../ui/status-badge.tsx";
import { Ago } from "../ui/time.tsx";
import { END_KINDS } from "./end-kinds.ts";
import type { Need, NeededEnd } from "./needs.ts";
import { Icon } from "../ui/icon.tsx";

const TrustFiles = lazy(async () => ({ default: (await import("../trust/page.tsx")).TrustFiles }));

export function EndPane({ need }: { readonly need: Exclude<Need, { is: "item" }> }): ReactNode {
  if (need.is === "login") return <LoginPane {...need.login} />;
  return <LooseEndPane end={need.end} />;
}

function LooseEndPane({ end }: { readonly end: NeededEnd }): ReactNode {
  const { kind, title, text, since, run, ticket } = end;
  // The changes are beside the buttons already.
  const verbs = end.verbs.filter(({ act }) => act.do !== "show" || act.what !== "changes");
  const whyNot = mayNot(useQuery(whoQuery).data);
  return (
    <article data-loose-end={end.id}>
      <Beside
        id={end.id}
        label="Your decision"
        head={
          <>
            <Head kind={kind} title={title}>
              <Where run={run} ticket={ticket} />
              {since !== null && <Ago at={since} />}
            </Head>
            <p className="text-sm [overflow-wrap:anywhere]">
              <SafeText max={2000}>{text}</SafeText>
            </p>
          </>
        }
        verbs={<Verbs about={{ run, ticket }} title={title} verbs={verbs} disabledBecause={whyNot} />}
        after={<Effects verbs={verbs} />}
        evidence={<EndEvidence end={end} />}
      />
    </article>
  );
}

/** The effect of each button. */
function Effects({ verbs }: Pick<NeededEnd, "verbs">): ReactNode {
  return (
    <dl className="flex flex-col gap-1 text-sm text-muted">
      {verbs
        .filter(({ effect }) => effect !== "")
        .map((verb) => (
          <div key={verb.verb} className="flex gap-1.5">
            <dt className="shrink-0">{nameOf(verb)}:</dt>
            <dd className="m-0 min-w-0 [overflow-wrap:anywhere]">
              <SafeText max={400}>{verb.effect}</SafeText>
            </dd>
          </div>
        ))}
    </dl>
  );
}

/** A stopped run shows first what its agents said, finished work what it changed. */
function EndEvidence({ end: { kind, run } }: { readonly end: NeededEnd }): ReactNode {
  if (kind === "trust")
    return (
      <Suspense fallback={<Loading what="the project's files" />}>
        <TrustFiles />
      </Suspense>
    );
  if (run === null) return null;
  const verdicts = (
    <Panel title="Verdicts">
      <Verdicts runId={run.id} />
    </Panel>
  );
  return (
    <>
      {kind === "stopped" && verdicts}
      <RunChanges run={run.id} />
      {kind !== "stopped" && verdicts}
    </>
  );
}

function LoginPane({ runner, evidence, fix }: Extract<Need, { is: "login" }>["login"]): ReactNode {
  return (
    <article className="flex min-w-0 flex-col gap-3">
      <Head kind="login" title={`${runner} is logged out`} />
      <p className="max-w-prose text-sm [overflow-wrap:anywhere]">
        <SafeText max={2000}>{evidence}</SafeText> Its stages cannot work before that. Log in on the daemon’s machine:
      </p>
      {fix !== "" && <CopyLine>{fix}</CopyLine>}
    </article>
  );
}

function Head({
  kind,
  title,
  children,
}: {
  readonly kind: keyof typeof END_KINDS;
  readonly title: string;
  readonly children?: ReactNode;
}): ReactNode {
  const { word, icon, tone } = END_KINDS[kind];
  return (
    <header className="flex flex-col gap-1.5">
      <p className="flex flex-wrap items-center gap-2 text-sm text-muted">
        <Badge tone={tone}>
          <Icon name={icon} />
          {word}
        </Badge>
        {children}
      </p>
      <h2
        id="decision-head"
        tabIndex={-1}
        className="text-lg font-semibold tracking-tight outline-none [overflow-wrap:anywhere]"
      >
        <SafeText max={300}>{title}</SafeText>
      </h2>
    </header>
  );
}

/** The page with the whole story. */
function Where({ run, ticket }: Pick<NeededEnd, "run" | "ticket">): ReactNode {
  if (run !== null)
    return (
      <Link to="/runs/$run" params={{ run: String(run.number) }} className="underline">
        #{run.number}
      </Link>
    );
  if (ticket === null) return null;
  return (
    <Link to="/tickets/$ticket" params={{ ticket }} className="underline">
      {ticket}
    </Link>
  );
}
