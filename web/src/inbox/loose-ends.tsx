// What waits although no stage asked: unmerged work, stopped runs, blocked tickets, broken files. One row each, with the buttons that
// settle it. Files that wait for trust have a line of their own above the inbox.

import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { whoQuery } from "../base/queries.ts";
import type { Tone } from "../base/status.ts";
import { mayNot } from "../settle/acts.ts";
import { Verbs } from "../settle/verbs.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Badge } from "../ui/status-badge.tsx";
import { Ago } from "../ui/time.tsx";
import type { ShownLooseEnd } from "./types.ts";

const KINDS = {
  merge: { word: "To merge", sign: "⤵", tone: "attention" },
  stopped: { word: "Stopped", sign: "■", tone: "bad" },
  blocked: { word: "Blocked", sign: "■", tone: "bad" },
  file: { word: "Broken file", sign: "!", tone: "warning" },
  trust: { word: "Trust", sign: "!", tone: "attention" },
} as const satisfies Readonly<Record<ShownLooseEnd["kind"], { word: string; sign: string; tone: Tone }>>;

export function LooseEnds({ ends }: { readonly ends: readonly ShownLooseEnd[] }): ReactNode {
  const { data: who } = useQuery(whoQuery);
  const whyNot = mayNot(who);
  const shown = ends.filter(({ kind }) => kind !== "trust");
  if (shown.length === 0) return null;
  return (
    <section aria-labelledby="loose-ends">
      <h2 id="loose-ends" className="mb-1.5 text-xs font-semibold text-muted">
        Also waits ({shown.length})
      </h2>
      <ul className="flex flex-col gap-1">
        {shown.map((end) => (
          <li key={end.id} className="rounded-md border border-line bg-panel px-3 py-2" data-loose-end={end.id}>
            <Row end={end} whyNot={whyNot} />
          </li>
        ))}
      </ul>
    </section>
  );
}

type RowProps = { readonly end: ShownLooseEnd; readonly whyNot: string | undefined };

function Row({ end: { kind, title, text, since, run, ticket, verbs }, whyNot }: RowProps): ReactNode {
  const { word, sign, tone } = KINDS[kind];
  return (
    <>
      <p className="flex items-center gap-2 text-xs text-muted">
        <Badge tone={tone}>
          <span aria-hidden="true">{sign}</span>
          {word}
        </Badge>
        <Where run={run} ticket={ticket} />
        {since !== null && (
          <span className="ml-auto">
            <Ago at={since} />
          </span>
        )}
      </p>
      <p className="mt-1 text-sm font-medium [overflow-wrap:anywhere]">
        <SafeText max={200}>{title}</SafeText>
      </p>
      <p className="mt-0.5 text-xs text-muted [overflow-wrap:anywhere]">
        <SafeText max={600}>{text}</SafeText>
      </p>
      <div className="mt-2">
        <Verbs about={{ run, ticket }} title={title} verbs={verbs} disabledBecause={whyNot} />
      </div>
    </>
  );
}

/** The page with the whole story. */
function Where({ run, ticket }: Pick<ShownLooseEnd, "run" | "ticket">): ReactNode {
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
