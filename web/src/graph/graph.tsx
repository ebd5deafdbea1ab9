// The picture of a flow or of a run in it. It is one ordered list: placed along the lines where there is room, one below the other on a phone,
// and read as a list by those who do not see it. The lines are only drawn behind it.

import { type ReactNode, useMemo } from "react";
import type { Tone } from "../base/status.ts";
import { TONES } from "../ui/status-badge.tsx";
import { type DrawnStage, type DrawnEdge, layoutGraph } from "./layout.ts";

export type StageMark = {
  readonly sign: string;
  readonly word: string;
  readonly tone: Tone;
  readonly isActive: boolean;
};

export type GraphStage = DrawnStage & {
  readonly kind: string;
  readonly who: string;
  /** How it stands; null in a flow that nobody runs. */
  readonly mark: StageMark | null;
  /** A short word under the name: which attempt, how long. */
  readonly note: ReactNode;
  /** What lines say to those who see them. */
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
  /** What a counter stands at, for the lines that count. */
  readonly countOf: (counter: string, track: string) => string;
  readonly selected?: string | undefined;
  /** Makes a link or a button of a stage's box. */
  readonly wrap: (id: string, className: string, content: ReactNode) => ReactNode;
}): ReactNode {
  const layout = useMemo(() => layoutGraph(stages), [stages]);
  const boxes = new Map(layout.nodes.map((node) => [node.id, node]));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard.
    <section aria-label={label} tabIndex={0} className="overflow-x-auto rounded-md">
      <div
        className="graph relative mx-auto"
        style={{ "--w": `${layout.width}px`, "--h": `${layout.height}px` } as object}
      >
        <svg
          aria-hidden="true"
          width={layout.width}
          height={layout.height}
          className="absolute inset-0 hidden text-muted sm:block"
        >
          <defs>
            <marker id="graph-tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
              <path d="M0 0 8 4 0 8z" fill="currentColor" />
            </marker>
          </defs>
          {layout.lanes.map(({ track, x, y, width, height }) => (
            <g key={track}>
              <rect {...{ x, y, width, height }} rx={8} className="fill-sunken stroke-line" strokeDasharray="4 3" />
              <text x={x + 8} y={y + 13} className="fill-muted text-[11px]">
                {track}
              </text>
            </g>
          ))}
          {layout.edges.map((edge) => (
            <Line
              key={`${edge.from} ${edge.to}`}
              edge={edge}
              countOf={(counter) => countOf(counter, stages.find(({ id }) => id === edge.from)?.track ?? "")}
            />
          ))}
        </svg>
        <ol className="contents max-sm:flex max-sm:flex-col max-sm:gap-2">
          {stages.map((stage) => {
            const box = boxes.get(stage.id);
            return (
              <li
                key={stage.id}
                className="sm:absolute"
                {...(box === undefined
                  ? {}
                  : {
                      style: {
                        left: box.x,
                        top: box.y,
                        ["--w" as string]: `${box.width}px`,
                        ["--h" as string]: `${box.height}px`,
                      },
                    })}
              >
                {wrap(stage.id, boxClass(stage, stage.id === selected), <StageBox stage={stage} />)}
              </li>
            );
          })}
        </ol>
      </div>
    </section>
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
          {mark.sign}
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
      <path
        d={path}
        fill="none"
        stroke="currentColor"
        strokeWidth={1.25}
        markerEnd="url(#graph-tip)"
        {...(is === "ahead" ? {} : { strokeDasharray: "5 3" })}
      />
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
