// The work as a graph of dependencies: earlier work is on the left. Only tickets that depend on another, or that another waits
// for, are in it.

import { Link } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";
import { SHOWN } from "../base/status.ts";
import { Arrow, GraphCanvas } from "../graph/canvas.tsx";
import { placeDependencies } from "../graph/dependency-layout.ts";
import { Icon } from "../ui/icon.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { Empty } from "../ui/states.tsx";
import { TONES } from "../ui/status-badge.tsx";
import { dependenciesOf } from "./dependencies.ts";
import type { WorkItem } from "./item.ts";
import { shortId } from "../ticket/ticket-facts.ts";

export function WorkGraph({ items }: { readonly items: readonly WorkItem[] }): ReactNode {
  const { ids, edges, alone, isCut } = useMemo(() => dependenciesOf(items), [items]);
  const layout = useMemo(() => placeDependencies(ids, edges), [ids, edges]);
  const byId = useMemo(() => new Map(items.map((item) => [item.id, item])), [items]);
  if (ids.length === 0)
    return (
      <Empty title="Nothing here depends on anything else.">
        <p>A ticket names what it waits for in its file: dependsOn. Edit a ticket to set it.</p>
      </Empty>
    );
  return (
    <div className="flex flex-col gap-2">
      <div className="rounded-lg border border-line bg-panel p-2">
        <GraphCanvas
          label="Dependencies"
          width={layout.width}
          height={layout.height}
          tip={TIP}
          lines={layout.lines.map(({ from, to, path }) => (
            <Arrow key={`${from} ${to}`} path={path} tip={TIP} isDashed={byId.get(from)?.lane === "done"} />
          ))}
          boxes={ids.map((id) => ({
            key: id,
            box: layout.boxes.get(id),
            content: <GraphBox id={id} item={byId.get(id)} />,
          }))}
        />
      </div>
      <p className="text-xs text-muted">
        An arrow leads from what must be done first to what waits for it; it is dashed where that is done.
        {alone > 0 &&
          ` ${alone} ${alone === 1 ? "entry depends" : "entries depend"} on nothing and nothing waits for ${alone === 1 ? "it" : "them"}; the list has ${alone === 1 ? "it" : "them"}.`}
        {isCut && " Only the first are drawn: filter to see others."}
      </p>
    </div>
  );
}

const TIP = "work-tip";
const BOX =
  "graph-box flex min-w-0 items-center gap-2 rounded-md border bg-panel px-2.5 py-1 text-left no-underline max-sm:min-h-11 max-sm:w-full";

function GraphBox({ id, item }: { readonly id: string; readonly item: WorkItem | undefined }): ReactNode {
  if (item === undefined)
    return (
      <Link to="/tickets/$ticket" params={{ ticket: id }} className={`${BOX} border-dashed border-line text-muted`}>
        <span className="truncate font-mono text-xs">
          <SafeText max={60}>{id}</SafeText>
        </span>
        <span className="shrink-0 text-xs">not in this view</span>
      </Link>
    );
  const { ticket, is } = item;
  const { icon, tone, word } = SHOWN[is];
  const needs = ticket.file?.dependsOn ?? [];
  return (
    <Link to="/tickets/$ticket" params={{ ticket: id }} className={`${BOX} border-line hover:bg-sunken`}>
      <span
        aria-hidden="true"
        className={`flex size-6 shrink-0 items-center justify-center rounded-full text-sm ${TONES[tone]}`}
      >
        <Icon name={icon} />
      </span>
      <span className="flex min-w-0 flex-col">
        <span className="truncate text-sm leading-5 font-medium text-ink">
          <SafeText max={120}>{ticket.title}</SafeText>
        </span>
        <span className="truncate text-xs leading-4 text-muted">
          <span className="font-mono">
            <SafeText max={40}>{shortId(id)}</SafeText>
          </span>{" "}
          · {word}
        </span>
        {needs.length > 0 && <span className="sr-only">. Waits for {needs.slice(0, 20).join(", ")}.</span>}
      </span>
    </Link>
  );
}
