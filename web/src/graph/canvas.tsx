// Boxes with lines between them. The boxes are one ordered list of links or buttons, placed along the lines if there is room and one below
// the other on a phone, so keyboards and screen readers can walk through it. The lines are only drawn behind the list.

import type { ReactNode } from "react";
import type { Box } from "./layout.ts";

export type CanvasBox = { readonly key: string; readonly box: Box | undefined; readonly content: ReactNode };

export function GraphCanvas({
  label,
  width,
  height,
  tip,
  lines,
  boxes,
}: {
  readonly label: string;
  readonly width: number;
  readonly height: number;
  /** The id of the arrow tip that the lines end with; unique on a page. */
  readonly tip: string;
  /** SVG behind the boxes. */
  readonly lines: ReactNode;
  readonly boxes: readonly CanvasBox[];
}): ReactNode {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region has to be reachable by keyboard.
    <section aria-label={label} tabIndex={0} className="overflow-x-auto rounded-md">
      <div className="graph relative mx-auto" style={{ "--w": `${width}px`, "--h": `${height}px` } as object}>
        <svg aria-hidden="true" width={width} height={height} className="absolute inset-0 hidden text-muted sm:block">
          <defs>
            <marker id={tip} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
              <path d="M0 0 8 4 0 8z" fill="currentColor" />
            </marker>
          </defs>
          {lines}
        </svg>
        <ol className="contents max-sm:flex max-sm:flex-col max-sm:gap-2">
          {boxes.map(({ key, box, content }) => (
            <li key={key} className="sm:absolute" {...(box === undefined ? {} : { style: styleOf(box) })}>
              {content}
            </li>
          ))}
        </ol>
      </div>
    </section>
  );
}

/** A line that ends in the tip. */
export function Arrow({
  path,
  tip,
  isDashed = false,
}: {
  readonly path: string;
  readonly tip: string;
  readonly isDashed?: boolean;
}): ReactNode {
  return (
    <path
      d={path}
      fill="none"
      stroke="currentColor"
      strokeWidth={1.25}
      markerEnd={`url(#${tip})`}
      {...(isDashed ? { strokeDasharray: "5 3" } : {})}
    />
  );
}

function styleOf({ x, y, width, height }: Box): object {
  return { left: x, top: y, "--w": `${width}px`, "--h": `${height}px` };
}
