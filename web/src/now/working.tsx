// The work of this moment: a row per live attempt with its last line, its usage, and its time.

import { Link } from "@tanstack/react-router";
import { lazy, type ReactNode, Suspense, useState } from "react";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { plain } from "../base/plain-text.ts";
import { Icon } from "../ui/icon.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Elapsed, usd } from "../ui/time.tsx";
import { Group } from "./group.tsx";
import { tip } from "../ui/tip.ts";

const ActDialog = lazy(async () => ({ default: (await import("../run/run-actions.tsx")).ActDialog }));

export type WorkingAttempt = AnswerTo<"showNow">["working"][number];

export function Working({ rows }: { readonly rows: readonly WorkingAttempt[] }): ReactNode {
  return (
    <Group id="working-now" title={`Working now (${rows.length})`}>
      {rows.length === 0 ? (
        <p className="text-sm text-muted">No agent works at the moment.</p>
      ) : (
        <ul className="flex flex-col gap-1">
          {rows.map((row) => (
            <li
              key={`${row.runId} ${row.stage} ${row.attempt}`}
              data-working={row.number}
              className="rounded-md border border-line bg-panel px-3 py-2"
            >
              <Row row={row} />
            </li>
          ))}
        </ul>
      )}
    </Group>
  );
}

function Row({ row }: { readonly row: WorkingAttempt }): ReactNode {
  const { number, title, stage, attempt, agent, runner, model, worker, since, lastLine, usage } = row;
  const tokens = usage === null ? null : (usage.inputTokens ?? 0) + (usage.outputTokens ?? 0);
  const player = [runner, model].filter((each) => each !== null).join(" ");
  return (
    <>
      <p className="flex items-baseline gap-2 text-sm">
        <Icon name="working" className="self-center text-active" />
        <Link
          to="/runs/$run"
          params={{ run: String(number) }}
          className="min-w-0 truncate font-medium text-ink no-underline hover:underline"
        >
          #{number} <SafeText max={200}>{title}</SafeText>
        </Link>
        <span className="ml-auto shrink-0 text-xs text-muted">
          <Elapsed since={since} />
        </span>
      </p>
      <p className="mt-0.5 flex flex-wrap items-center gap-x-3 text-xs text-muted">
        <span>
          {stage} #{attempt}
          {agent !== "" && agent !== stage && (
            <>
              {" · "}
              <SafeText max={60}>{agent}</SafeText>
            </>
          )}
        </span>
        {player !== "" && (
          <span>
            <SafeText max={80}>{player}</SafeText>
          </span>
        )}
        {worker !== null && (
          <span>
            on <SafeText max={80}>{worker}</SafeText>
          </span>
        )}
        {tokens !== null && <span className="tabular">{tokens.toLocaleString()} tokens</span>}
        {usage?.usd != null && <span className="tabular">{usd(usage.usd)}</span>}
        <Stop row={row} />
      </p>
      {lastLine !== null && (
        <p className="mt-1 truncate font-mono text-xs" {...tip(plain(lastLine.text))}>
          <SafeText max={200}>{lastLine.text}</SafeText>
        </p>
      )}
    </>
  );
}

/** Ends this agent now; the dialog says what that means. */
function Stop({ row: { runId, number, stage } }: { readonly row: WorkingAttempt }): ReactNode {
  const [isAsking, ask] = useState(false);
  return (
    <>
      <button
        type="button"
        aria-label={`Stop ${stage} of #${number} now`}
        className="ml-auto min-h-6 cursor-pointer rounded-md border border-line px-2 font-medium text-bad hover:border-bad hover:bg-bad-soft pointer-coarse:min-h-11"
        onClick={() => ask(true)}
      >
        Stop
      </button>
      {isAsking && (
        <Suspense>
          <ActDialog run={{ id: runId, number }} act={{ act: "stop", stage, why: null }} close={() => ask(false)} />
        </Suspense>
      )}
    </>
  );
}
