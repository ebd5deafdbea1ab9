// The positions of tickets in the graph of their dependencies: one column per step, dependencies on the left.

import type { AnswerTo } from "../../../src/http/client/input.ts";
import type { Box } from "../graph/layout.ts";

export type Graph = AnswerTo<"showTicket">["graph"];
type Node = Graph["nodes"][number];
type Placed = Box & { readonly node: Node };
export type DependencyLayout = {
  readonly width: number;
  readonly height: number;
  /** In reading order: left to right, top to bottom. */
  readonly boxes: readonly Placed[];
  readonly lines: readonly { readonly key: string; readonly path: string }[];
};

const SIZE = { width: 200, height: 54, gapX: 56, gapY: 14, pad: 8 } as const;

export function placeTickets({ nodes, edges }: Graph): DependencyLayout {
  const columns = [...Map.groupBy(nodes, ({ depth }) => depth)].toSorted(([a], [b]) => a - b);
  const most = Math.max(1, ...columns.map(([, own]) => own.length));
  const step = SIZE.height + SIZE.gapY;
  const boxes = columns.flatMap(([, own], column) =>
    own.map(
      (node, row): Placed => ({
        node,
        x: SIZE.pad + column * (SIZE.width + SIZE.gapX),
        // Short columns are centred.
        y: SIZE.pad + ((most - own.length) * step) / 2 + row * step,
        width: SIZE.width,
        height: SIZE.height,
      }),
    ),
  );
  const byId = new Map(boxes.map((box) => [box.node.id, box]));
  return {
    width: SIZE.pad * 2 + columns.length * SIZE.width + Math.max(0, columns.length - 1) * SIZE.gapX,
    height: SIZE.pad * 2 + most * step - SIZE.gapY,
    boxes,
    lines: edges.flatMap(({ from, to }) => {
      const [a, b] = [byId.get(from), byId.get(to)];
      return a === undefined || b === undefined || a === b ? [] : [{ key: `${from} ${to}`, path: pathOf(a, b) }];
    }),
  };
}

/** From the right side of the dependency to the left side of the ticket that waits; around the side within a column or backwards. */
function pathOf(from: Placed, to: Placed): string {
  const [x1, y1] = [from.x + from.width, from.y + from.height / 2];
  const [x2, y2] = [to.x, to.y + to.height / 2];
  const bend = x2 > x1 ? (x2 - x1) / 2 : SIZE.gapX * 0.8;
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
}
