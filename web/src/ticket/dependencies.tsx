// What a ticket needs and who needs it, as a picture: what has to be done first stands on the left. It is an ordered list of links, so it can be
// walked through by keyboard and read out; the lines are only drawn behind it, and on a phone it is just that list.

import { Link } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";
import { SHOWN } from "../base/status.ts";
import { standingOfFile } from "./ticket-facts.ts";
import { SafeText } from "../ui/safe-text.tsx";
import { TONES } from "../ui/status-badge.tsx";
import { type Graph, placeTickets } from "./place-tickets.ts";

type Props = { readonly id: string; readonly graph: Graph };

export function Dependencies({ id, graph }: Props): ReactNode {
  const layout = useMemo(() => placeTickets(graph), [graph]);
  if (graph.nodes.length < 2)
    return <p className="text-sm text-muted">It waits for no other ticket, and none waits for it.</p>;
  return (
    <div className="flex flex-col gap-2">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard. */}
      <section aria-label="Dependencies" tabIndex={0} className="overflow-x-auto rounded-md">
        <div className="graph relative" style={{ "--w": `${layout.width}px`, "--h": `${layout.height}px` } as object}>
          <svg
            aria-hidden="true"
            width={layout.width}
            height={layout.height}
            className="absolute inset-0 hidden text-muted sm:block"
          >
            <defs>
              <marker id="needs-tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
                <path d="M0 0 8 4 0 8z" fill="currentColor" />
              </marker>
            </defs>
            {layout.lines.map(({ key, path }) => (
              <path
                key={key}
                d={path}
                fill="none"
                stroke="currentColor"
                strokeWidth={1.25}
                markerEnd="url(#needs-tip)"
              />
            ))}
          </svg>
          <ol className="contents max-sm:flex max-sm:flex-col max-sm:gap-2">
            {layout.boxes.map(({ node, x, y, width, height }) => (
              <li
                key={node.id}
                className="sm:absolute"
                style={{ left: x, top: y, ["--w" as string]: `${width}px`, ["--h" as string]: `${height}px` }}
              >
                <Box node={node} isSelf={node.id === id} />
              </li>
            ))}
          </ol>
        </div>
      </section>
      {graph.isCut && <p className="text-xs text-muted">There are more; the nearest are shown.</p>}
    </div>
  );
}

const BOX =
  "graph-box flex min-w-0 items-center gap-2 rounded-md border bg-panel px-2.5 py-1 text-left no-underline max-sm:min-h-11 max-sm:w-full";

function Box({ node, isSelf }: { readonly node: Graph["nodes"][number]; readonly isSelf: boolean }): ReactNode {
  const { id, title, word, state, depth } = node;
  const shown = state === null || word === null ? SHOWN.refused : SHOWN[standingOfFile({ state, status: word })];
  const content = (
    <>
      <span
        aria-hidden="true"
        className={`flex size-6 shrink-0 items-center justify-center rounded-full text-sm ${TONES[shown.tone]}`}
      >
        {shown.sign}
      </span>
      <span className="flex min-w-0 flex-col">
        <span className="truncate text-sm leading-5 font-medium text-ink">
          <span className="font-mono text-xs">
            <SafeText max={40}>{id}</SafeText>
          </span>{" "}
          <SafeText max={120}>{title ?? "no such ticket"}</SafeText>
        </span>
        <span className="truncate text-xs leading-4 text-muted">{word ?? "unknown dependency"}</span>
        <span className="sr-only">{placeInWords(depth)}</span>
      </span>
    </>
  );
  if (isSelf)
    return (
      <span aria-current="true" className={`${BOX} border-ink ring-2 ring-active ring-inset`}>
        {content}
      </span>
    );
  if (title === null) return <span className={`${BOX} border-dashed border-bad`}>{content}</span>;
  return (
    <Link to="/tickets/$ticket" params={{ ticket: id }} className={`${BOX} border-line hover:bg-sunken`}>
      {content}
    </Link>
  );
}

function placeInWords(depth: number): string {
  if (depth === 0) return ". This ticket.";
  const how = Math.abs(depth) === 1 ? "" : ", by way of others";
  return depth < 0 ? `. Has to be done before${how}.` : `. Waits for this ticket${how}.`;
}
