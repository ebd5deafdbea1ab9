// The next work, in order, and why each waits.

import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { SafeText } from "../ui/safe-text.tsx";
import { Ago, clock } from "../ui/time.tsx";
import { Group } from "./group.tsx";

type Entry = AnswerTo<"showNow">["next"][number];

const SHOWN = 8;

export function Next({ entries }: { readonly entries: readonly Entry[] }): ReactNode {
  return (
    <Group id="next" title={`Next (${entries.length})`}>
      {entries.length === 0 ? (
        <p className="text-sm text-muted">Nothing waits its turn.</p>
      ) : (
        <ol className="flex flex-col divide-y divide-line">
          {entries.slice(0, SHOWN).map((entry) => (
            <li key={`${entry.runId} ${entry.track}`} data-next={entry.number} className="py-1.5">
              <Row entry={entry} />
            </li>
          ))}
        </ol>
      )}
      {entries.length > SHOWN && (
        <p className="pt-1 text-xs">
          <Link to="/projects" className="underline">
            All {entries.length} in line
          </Link>
        </p>
      )}
    </Group>
  );
}

function Row({ entry }: { readonly entry: Entry }): ReactNode {
  const { number, title, stage, attempt, position, why, notBefore, since } = entry;
  return (
    <>
      <p className="flex items-baseline gap-2 text-sm">
        <Link to="/runs/$run" params={{ run: String(number) }} className="min-w-0 truncate text-ink underline">
          #{number} <SafeText max={200}>{title}</SafeText>
        </Link>
        <span className="ml-auto shrink-0 text-xs text-muted">
          <Ago at={since} />
        </span>
      </p>
      <p className="text-xs text-muted [overflow-wrap:anywhere]">
        {position !== null && `${position}. `}
        {stage}
        {attempt > 1 && ` #${attempt}`}: {why}
        {notBefore !== null && ` (not before ${clock(notBefore)})`}
      </p>
    </>
  );
}
