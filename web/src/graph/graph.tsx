// The stages of a flow as a graph, with the state of each if it belongs to a run.

import { type ReactNode, useMemo } from "react";
import type { IconName, Tone } from "../base/status.ts";
import { Icon } from "../ui/icon.tsx";
import { TONES } from "../ui/status-badge.tsx";
import { Arrow, GraphCanvas } from "./canvas.tsx";
import { type DrawnEdge, type DrawnStage, layoutGraph, type TrackLane } from "./layout.ts";

export type StageMark = {
  readonly icon: IconName;
  readonly word: string;
  readonly tone: Tone;
  readonly isActive: boolean;
};

export type GraphStage = DrawnStage & {
  readonly kind: string;
  readonly who: string;
  /** Its state; null in a flow without a run. */
  readonly mark: StageMark | null;
  /** A short line below the name: which attempt, how long. */
  readonly note: ReactNode;
  /** The lines in words, for screen readers. */
  readonly says: readonly string[];
};

export function Graph({
  stages,
  label,
  countOf,
  selected,
  wrap,
}: {
  readonly stages: readonly GraphStage[];
  readonly label: string;
  /** The value of a counter, for the lines that count. */
  readonly countOf: (counter: string, track: string) => string;
  readonly selected?: string | undefined;
  /** Turns the box of a stage into a link or a button. */
  readonly wrap: (id: string, className: string, content: ReactNode) => ReactNode;
}): ReactNode {
  const layout = useMemo(() => layoutGraph(stages), [stages]);
  const places = new Map(layout.nodes.map((node) => [node.id, node]));
  const trackOf = (id: string): string => stages.find((stage) => stage.id === id)?.track ?? "";
  return (
    <GraphCanvas
      label={label}
      width={layout.width}
      height={layout.height}
      tip={TIP}
      lines={
        <>
          {layout.lanes.map((lane) => (
            <Track key={lane.track} lane={lane} />
          ))}
          {layout.edges.map((edge) => (
            <Line
              key={`${edge.from} ${edge.to}`}
              edge={edge}
              countOf={(counter) => countOf(counter, trackOf(edge.from))}
            />
          ))}
        </>
      }
      boxes={stages.map((stage) => ({
        key: stage.id,
        box: places.get(stage.id),
        content: wrap(stage.id, boxClass(stage, stage.id === selected), <StageBox stage={stage} />),
      }))}
    />
  );
}

const TIP = "graph-tip";

function Track({ lane: { track, x, y, width, height } }: { readonly lane: TrackLane }): ReactNode {
  return (
    <g>
      <rect {...{ x, y, width, height }} rx={8} className="fill-sunken stroke-line" strokeDasharray="4 3" />
      <text x={x + 8} y={y + 13} className="fill-muted text-[11px]">
        {track}
      </text>
    </g>
  );
}

function boxClass({ mark, kind }: GraphStage, isSelected: boolean): string {
  const shape = kind === "gate" ? "rounded-2xl" : "rounded-md";
  const frame = mark?.isActive === true ? "border-active pulse-box" : isSelected ? "border-ink" : "border-line";
  return `graph-box flex min-w-0 items-center gap-2 border bg-panel px-2.5 py-1 text-left no-underline hover:bg-sunken max-sm:min-h-11 max-sm:w-full ${shape} ${frame} ${isSelected ? "ring-2 ring-active" : ""}`;
}

function StageBox({ stage: { id, who, mark, note, says } }: { readonly stage: GraphStage }): ReactNode {
  return (
    <>
      {mark !== null && (
        <span
          aria-hidden="true"
          className={`flex size-6 shrink-0 items-center justify-center rounded-full text-sm ${TONES[mark.tone]}`}
        >
          <Icon name={mark.icon} />
        </span>
      )}
      <span className="flex min-w-0 flex-col">
        <span className="truncate text-sm leading-5 font-medium text-ink">{id}</span>
        <span className="flex gap-1 truncate text-xs leading-4 text-muted">
          {who !== "" && who.toLowerCase() !== id.toLowerCase() && <span className="truncate">{who}</span>}
          {note}
        </span>
        <span className="sr-only">
          {mark?.word}. {says.join(". ")}
        </span>
      </span>
    </>
  );
}

function Line({
  edge,
  countOf,
}: {
  readonly edge: DrawnEdge;
  readonly countOf: (counter: string) => string;
}): ReactNode {
  const { path, is, on, counter, label } = edge;
  const count = counter === null ? "" : ` · ${countOf(counter)}`;
  return (
    <g>
      <Arrow path={path} tip={TIP} isDashed={is !== "ahead"} />
      {is !== "ahead" && (
        <text
          x={label.x}
          y={label.y}
          textAnchor="middle"
          paintOrder="stroke"
          className="fill-muted stroke-panel text-[11px]"
          strokeWidth={4}
        >
          {on.join(", ")}
          {count}
        </text>
      )}
    </g>
  );
}
