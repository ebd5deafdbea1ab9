// A ticket's dependencies as a graph: tickets that must be done first are on the left.

import { Link } from "@tanstack/react-router";
import { type ReactNode, useMemo } from "react";
import { SHOWN } from "../base/status.ts";
import { standingOfFile } from "./ticket-facts.ts";
import { Arrow, GraphCanvas } from "../graph/canvas.tsx";
import { SafeText } from "../ui/safe-text.tsx";
import { TONES } from "../ui/status-badge.tsx";
import type { AnswerTo } from "../../../src/http/client/input.ts";
import { placeDependencies } from "../graph/dependency-layout.ts";
import { Icon } from "../ui/icon.tsx";

type Graph = AnswerTo<"showTicket">["graph"];
type Props = { readonly id: string; readonly graph: Graph };

export function Dependencies({ id, graph }: Props): ReactNode {
  const layout = useMemo(
    () =>
      placeDependencies(
        graph.nodes.map((node) => node.id),
        graph.edges,
      ),
    [graph],
  );
  if (graph.nodes.length < 2)
    return <p className="text-sm text-muted">This ticket depends on no other, and no other depends on it.</p>;
  return (
    <div className="flex flex-col gap-2">
      <GraphCanvas
        label="Dependencies"
        width={layout.width}
        height={layout.height}
        tip={TIP}
        lines={layout.lines.map(({ from, to, path }) => <Arrow key={`${from} ${to}`} path={path} tip={TIP} />)}
        boxes={readingOrder(graph.nodes).map((node) => ({
          key: node.id,
          box: layout.boxes.get(node.id),
          content: <TicketBox node={node} isSelf={node.id === id} />,
        }))}
      />
      {graph.isCut && <p className="text-xs text-muted">Only the nearest tickets are shown.</p>}
    </div>
  );
}

/** Dependencies first, as in the picture. */
function readingOrder(nodes: Graph["nodes"]): Graph["nodes"] {
  return nodes.toSorted((a, b) => a.depth - b.depth);
}

const TIP = "needs-tip";
const BOX =
  "graph-box flex min-w-0 items-center gap-2 rounded-md border bg-panel px-2.5 py-1 text-left no-underline max-sm:min-h-11 max-sm:w-full";

function TicketBox({ node, isSelf }: { readonly node: Graph["nodes"][number]; readonly isSelf: boolean }): ReactNode {
  const { id, title, word, state, depth } = node;
  const shown = state === null || word === null ? SHOWN.refused : SHOWN[standingOfFile({ state, status: word })];
  const content = (
    <>
      <span
        aria-hidden="true"
        className={`flex size-6 shrink-0 items-center justify-center rounded-full text-sm ${TONES[shown.tone]}`}
      >
        <Icon name={shown.icon} />
      </span>
      <span className="flex min-w-0 flex-col">
        <span className="truncate text-sm leading-5 font-medium text-ink">
          <span className="font-mono text-xs">
            <SafeText max={40}>{id}</SafeText>
          </span>{" "}
          <SafeText max={120}>{title ?? "ticket not found"}</SafeText>
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
  const how = Math.abs(depth) === 1 ? "" : ", indirectly";
  return depth < 0 ? `. Must be done first${how}.` : `. Depends on this ticket${how}.`;
}
