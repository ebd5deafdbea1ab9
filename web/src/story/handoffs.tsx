// The handoffs of a story, newest first. A chosen one shows its payload; the address holds the choice.

import { Link } from "@tanstack/react-router";
import { type ReactNode, useId, useState } from "react";
import type { HandoffRowShown } from "../../../src/http/contract/schemas/handoff-row.ts";
import type { IconName, Tone } from "../base/status.ts";
import { Button } from "../ui/button.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { plain } from "../base/plain-text.ts";
import { Badge } from "../ui/status-badge.tsx";
import { clock, duration } from "../ui/time.tsx";
import { attemptNumbers } from "./picture.ts";
import { Icon } from "../ui/icon.tsx";
import { ChevronDown, ChevronRight } from "lucide-react";

const PAGE = 50;

type Props = {
  readonly rows: readonly HandoffRowShown[];
  readonly entry: string | null;
  readonly shown: string | undefined;
};

export function Handoffs({ rows, entry, shown }: Props): ReactNode {
  const [count, setCount] = useState(PAGE);
  const numbers = attemptNumbers(rows, entry);
  const newest = rows.toReversed();
  // A linked handoff is always shown, however old it is.
  const linked = newest.findIndex(({ id }) => String(id) === shown);
  const until = Math.max(count, linked + 1);
  return (
    <div className="flex flex-col gap-2">
      <ol className="flex flex-col divide-y divide-line text-sm">
        {newest.slice(0, until).map((row) => (
          <Row key={row.id} row={row} attempt={numbers.get(row.id) ?? 1} isOpen={String(row.id) === shown} />
        ))}
      </ol>
      {until < newest.length && (
        <Button onClick={() => setCount(until + PAGE)}>Show older ({newest.length - until})</Button>
      )}
    </div>
  );
}

const STATUS: Readonly<Record<HandoffRowShown["status"], { readonly icon: IconName; readonly tone: Tone }>> = {
  pending: { icon: "circle", tone: "active" },
  accepted: { icon: "check", tone: "good" },
  rejected: { icon: "back", tone: "warning" },
};

function Row({
  row,
  attempt,
  isOpen,
}: {
  readonly row: HandoffRowShown;
  readonly attempt: number;
  readonly isOpen: boolean;
}): ReactNode {
  const body = useId();
  const { icon, tone } = STATUS[row.status];
  const took =
    row.processed_at === null ? null : duration(Math.max(0, Date.parse(row.processed_at) - Date.parse(row.created_at)));
  return (
    <li className="flex flex-col gap-1 py-1">
      <Link
        to="."
        search={(old: { handoff?: string }) => {
          const { handoff: _shown, ...rest } = old;
          return isOpen ? rest : { ...rest, handoff: String(row.id) };
        }}
        replace
        resetScroll={false}
        aria-expanded={isOpen}
        aria-controls={body}
        role="button"
        onKeyDown={(event) => {
          if (event.key !== " ") return;
          event.preventDefault();
          event.currentTarget.click();
        }}
        className="flex min-h-9 flex-wrap items-center gap-x-3 gap-y-1 rounded-md text-ink no-underline hover:bg-sunken pointer-coarse:min-h-11"
      >
        <span aria-hidden="true" className="w-3 text-muted">
          {isOpen ? <ChevronDown className="size-4" /> : <ChevronRight className="size-4" />}
        </span>
        <span className="font-medium">
          <SafeText max={60}>{row.from_agent ?? "—"}</SafeText> <span aria-hidden="true">→</span>
          <span className="sr-only"> to </span> <SafeText max={60}>{row.to_agent ?? "—"}</SafeText>
        </span>
        <Badge tone={tone}>
          <Icon name={icon} />
          {row.status}
        </Badge>
        {attempt > 1 && <Badge>attempt {attempt}</Badge>}
        <span className="tabular text-xs text-muted">
          <time dateTime={row.created_at}>{clock(row.created_at)}</time>
          {took !== null && ` · ${row.status} after ${took}`}
        </span>
        <span className="ml-auto font-mono text-xs text-muted">#{row.id}</span>
      </Link>
      {row.rejection_reason !== null && (
        <p className="ml-6 text-warning">
          <span className="font-medium">Rejected: </span>
          <SafeText max={4000}>{row.rejection_reason}</SafeText>
        </p>
      )}
      <div id={body} hidden={!isOpen} className="ml-6">
        {isOpen && <Payload row={row} />}
      </div>
    </li>
  );
}

/** The payload as formatted JSON, only ever as text. */
function Payload({ row }: { readonly row: HandoffRowShown }): ReactNode {
  if (row.payload === null) return <p className="text-muted">No payload.</p>;
  return (
    <pre
      tabIndex={0}
      aria-label={`Payload of handoff ${row.id} from ${plain(row.from_agent ?? "nobody", 60)}`}
      role="region"
      className="max-h-96 overflow-auto rounded-md bg-sunken p-3 font-mono text-xs whitespace-pre-wrap break-words"
    >
      <SafeText>{JSON.stringify(row.payload, null, 2)}</SafeText>
    </pre>
  );
}
