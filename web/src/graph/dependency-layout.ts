// Where tickets and the arrows between them are drawn: what must be done first is on the left. Dagre places the boxes and leads each arrow
// around them; a circle of dependencies is drawn as one, with an arrow back.

import { Graph, layout } from "@dagrejs/dagre";
import type { Box } from "./layout.ts";

export type Dependency = { readonly from: string; readonly to: string };

export type DependencyLayout = {
  readonly width: number;
  readonly height: number;
  readonly boxes: ReadonlyMap<string, Box>;
  readonly lines: readonly (Dependency & { readonly path: string })[];
};

const SIZE = { width: 220, height: 56 } as const;
const SPACE = { rankdir: "LR", ranksep: 64, nodesep: 18, edgesep: 14, marginx: 12, marginy: 12 } as const;

/** `from` is done before `to`. An edge to a box that is not there, or to itself, is left out. */
export function placeDependencies(ids: readonly string[], edges: readonly Dependency[]): DependencyLayout {
  const graph = new Graph();
  graph.setGraph({ ...SPACE });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const id of ids) graph.setNode(id, { ...SIZE });
  const drawn = edges.filter(({ from, to }) => from !== to && graph.hasNode(from) && graph.hasNode(to));
  for (const { from, to } of drawn) graph.setEdge(from, to);
  layout(graph);
  const { width = 0, height = 0 } = graph.graph() as { readonly width?: number; readonly height?: number };
  return {
    width: Math.ceil(width),
    height: Math.ceil(height),
    boxes: new Map(ids.map((id) => [id, boxAt(graph.node(id) as Point)])),
    lines: drawn.map(({ from, to }) => {
      const { points } = graph.edge(from, to) as { readonly points: readonly Point[] };
      return { from, to, path: pathOf(fromSideToSide(graph.node(from) as Point, graph.node(to) as Point, points)) };
    }),
  };
}

type Point = { readonly x: number; readonly y: number };

/** Dagre names the middle of a box. */
function boxAt({ x, y }: Point): Box {
  return { x: Math.round(x - SIZE.width / 2), y: Math.round(y - SIZE.height / 2), ...SIZE };
}

/** How far below the middle an arrow back begins and ends, so that it does not cover the forward one. */
const BACK = 12;

/** Dagre would let an arrow begin at the top of a box; people read from its right side to the left side of the next. */
function fromSideToSide(from: Point, to: Point, points: readonly Point[]): readonly Point[] {
  const isForth = from.x < to.x;
  const side = (isForth ? SIZE.width : -SIZE.width) / 2;
  const down = isForth ? 0 : BACK;
  return [{ x: from.x + side, y: from.y + down }, ...points.slice(1, -1), { x: to.x - side, y: to.y + down }];
}

/** Through the middles between the bends, with the bends as handles: a smooth line that stays where dagre led it. */
function pathOf(points: readonly Point[]): string {
  const [first, ...rest] = points.map(({ x, y }) => ({ x: Math.round(x), y: Math.round(y) }));
  const last = rest.at(-1);
  if (first === undefined || last === undefined) return "";
  const bends = rest.slice(0, -1);
  const curves = bends.map((bend, at) => {
    const next = bends[at + 1];
    const end = next === undefined ? last : { x: (bend.x + next.x) / 2, y: (bend.y + next.y) / 2 };
    return `Q${bend.x} ${bend.y} ${end.x} ${end.y}`;
  });
  return `M${first.x} ${first.y}${curves.length === 0 ? `L${last.x} ${last.y}` : curves.join("")}`;
}
