// The positions of a flow's stages. The stages run from left to right in the flow's order, so no general layout algorithm is needed: the
// main track is one row, each parallel track has a lane. Lines back are arcs below and leaps ahead are arcs above; a line back inside a
// lane stays in it, and one to a lane in the upper half goes above.

export type DrawnStage = {
  readonly id: string;
  readonly track: string;
  readonly ways: readonly {
    readonly on: string;
    readonly to: readonly string[];
    readonly counter: string | null;
  }[];
};

export type Box = { readonly x: number; readonly y: number; readonly width: number; readonly height: number };
export type Node = Box & { readonly id: string };
export type TrackLane = Box & { readonly track: string };
export type DrawnEdge = {
  readonly from: string;
  readonly to: string;
  readonly is: "ahead" | "over" | "back";
  /** The verdicts that take this line. */
  readonly on: readonly string[];
  readonly counter: string | null;
  /** For SVG's `d`. */
  readonly path: string;
  readonly label: { readonly x: number; readonly y: number };
};
export type GraphLayout = {
  readonly width: number;
  readonly height: number;
  readonly nodes: readonly Node[];
  readonly lanes: readonly TrackLane[];
  readonly edges: readonly DrawnEdge[];
};

export const SIZE = { width: 136, height: 54, gapX: 36, gapY: 34, pad: 14, arc: 26 } as const;
const MAIN = "main";
/** The line with a track's name. */
const LANE_HEAD = 16;

export function layoutGraph(stages: readonly DrawnStage[]): GraphLayout {
  const places = placeStages(stages);
  const links = linksOf(stages, places);
  const roomOf = (where: Link["where"]): number => {
    const levels = links.filter((link) => link.is !== "ahead" && link.where === where).map(({ level }) => level + 1);
    return Math.max(0, ...levels) * SIZE.arc;
  };
  const lanes = [...new Set([...places.values()].flatMap(({ row, isMain }) => (isMain ? [] : [row])))].toSorted(
    (a, b) => a - b,
  );
  const top = SIZE.pad + roomOf("top") + (lanes.length > 0 ? LANE_HEAD : 0);
  const heights = new Map<number, number>();
  let bottom = top;
  for (const row of lanes) {
    heights.set(row, bottom);
    bottom += SIZE.height + roomOf(row) + SIZE.gapY;
  }
  const low = lanes.length === 0 ? top + SIZE.height : bottom - SIZE.gapY;
  const middle = (top + low - SIZE.height) / 2;
  const nodes = [...places].map(([id, { column, row, isMain }]) => ({
    id,
    x: SIZE.pad + column * (SIZE.width + SIZE.gapX),
    y: isMain ? middle : (heights.get(row) ?? top),
    width: SIZE.width,
    height: SIZE.height,
  }));
  const boxes = new Map(nodes.map((node) => [node.id, node]));
  const columns = Math.max(0, ...[...places.values()].map(({ column }) => column + 1));
  const edge = lanes.length > 0 ? 8 : 0;
  return {
    width: SIZE.pad * 2 + columns * SIZE.width + Math.max(0, columns - 1) * SIZE.gapX,
    height: low + edge + SIZE.pad + roomOf("bottom"),
    nodes,
    lanes: lanesOf(stages, boxes, places, roomOf),
    edges: links.flatMap((link) =>
      draw(link, boxes, { top: top - (lanes.length > 0 ? LANE_HEAD : 0), bottom: low + edge }),
    ),
  };
}

type Place = { readonly column: number; readonly row: number; readonly isMain: boolean };

/** Parallel tracks begin at the same column, in separate rows. */
function placeStages(stages: readonly DrawnStage[]): ReadonlyMap<string, Place> {
  const places = new Map<string, Place>();
  let column = 0;
  for (let index = 0; index < stages.length; ) {
    const stage = stages[index];
    if (stage === undefined) break;
    if (stage.track === MAIN) {
      places.set(stage.id, { column: column++, row: 0, isMain: true });
      index++;
      continue;
    }
    const end = stages.findIndex((other, at) => at >= index && other.track === MAIN);
    const fork = stages.slice(index, end === -1 ? stages.length : end);
    const tracks = Map.groupBy(fork, ({ track }) => track);
    [...tracks.values()].forEach((own, lane) => {
      const row = lane - (tracks.size - 1) / 2;
      own.forEach(({ id }, step) => places.set(id, { column: column + step, row, isMain: false }));
    });
    column += Math.max(...[...tracks.values()].map(({ length }) => length));
    index += fork.length;
  }
  return places;
}

type Link = Omit<DrawnEdge, "path" | "label"> & {
  /** Where the arc runs: above or below everything, or in the lane of this row. */
  readonly where: "top" | "bottom" | number;
  /** How far from there: arcs that overlap have different levels. */
  readonly level: number;
};

/** Routes with the same ends share one link. Routes out of the flow and retries of the same stage are not drawn, only described. */
function linksOf(stages: readonly DrawnStage[], places: ReadonlyMap<string, Place>): readonly Link[] {
  const found = new Map<string, { link: Omit<Link, "level">; on: string[] }>();
  for (const { id, ways } of stages) {
    const here = places.get(id);
    if (here === undefined) continue;
    for (const way of ways) {
      for (const to of way.to) {
        const there = places.get(to);
        if (there === undefined || to === id) continue;
        const known = found.get(`${id} ${to}`);
        if (known !== undefined) {
          known.on.push(way.on);
          if (known.link.counter === null && way.counter !== null) known.link = { ...known.link, counter: way.counter };
          continue;
        }
        const on = [way.on];
        const is = there.column <= here.column ? "back" : isFree(here, there, places) ? "ahead" : "over";
        const where = whereOf(is, here, there);
        found.set(`${id} ${to}`, { link: { from: id, to, is, where, on, counter: way.counter }, on });
      }
    }
  }
  return withLevels(
    [...found.values()].map(({ link }) => link),
    places,
  );
}

function whereOf(is: DrawnEdge["is"], from: Place, to: Place): Link["where"] {
  if (is === "over") return "top";
  if (!from.isMain && from.row === to.row) return from.row;
  return to.row < 0 ? "top" : "bottom";
}

/** True if no stage is in the way: a line follows the row where it begins and changes rows only at the end. */
function isFree(from: Place, to: Place, places: ReadonlyMap<string, Place>): boolean {
  return ![...places.values()].some(
    ({ column, row }) => column > from.column && column < to.column && row === from.row,
  );
}

/** Arcs that overlap get different heights; the shorter one is nearer to the stages. */
function withLevels(links: readonly Omit<Link, "level">[], places: ReadonlyMap<string, Place>): readonly Link[] {
  const spanOf = ({ from, to }: { readonly from: string; readonly to: string }): readonly [number, number] => {
    const [a, b] = [places.get(from)?.column ?? 0, places.get(to)?.column ?? 0];
    return [Math.min(a, b), Math.max(a, b)];
  };
  const placed: Link[] = [];
  const widthOf = (link: Omit<Link, "level">): number => spanOf(link)[1] - spanOf(link)[0];
  for (const link of links.toSorted((a, b) => widthOf(a) - widthOf(b))) {
    const [begin, end] = spanOf(link);
    const taken = new Set(
      placed
        .filter(
          (other) =>
            other.is !== "ahead" && other.where === link.where && spanOf(other)[0] < end && begin < spanOf(other)[1],
        )
        .map(({ level }) => level),
    );
    let level = 0;
    while (link.is !== "ahead" && taken.has(level)) level++;
    placed.push({ ...link, level });
  }
  return placed;
}

function draw(
  { level, where, ...link }: Link,
  boxes: ReadonlyMap<string, Box>,
  room: { readonly top: number; readonly bottom: number },
): DrawnEdge[] {
  const from = boxes.get(link.from);
  const to = boxes.get(link.to);
  if (from === undefined || to === undefined) return [];
  if (link.is === "ahead") {
    const [x1, y1, x2, y2] = [from.x + from.width, from.y + from.height / 2, to.x, to.y + to.height / 2];
    const bend = Math.min(x2 - x1, SIZE.gapX) / 2;
    const path =
      y1 === y2
        ? `M${x1} ${y1}H${x2}`
        : `M${x1} ${y1}H${Math.max(x1, x2 - SIZE.gapX)}C${x2 - bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
    return [{ ...link, path, label: { x: (x1 + x2) / 2, y: (y1 + y2) / 2 - 4 } }];
  }
  // Arcs leave and arrive beside the middle of a box, so that an incoming and an outgoing one do not overlap.
  const isLow = where !== "top";
  const isBack = link.is === "back";
  const x1 = from.x + from.width * (isBack ? 0.4 : 0.6);
  const x2 = to.x + to.width * (isBack ? 0.6 : 0.4);
  const [y1, y2] = isLow ? [from.y + from.height, to.y + to.height] : [from.y, to.y];
  const away = (level + 1) * SIZE.arc - 8;
  const edge = where === "top" ? room.top : where === "bottom" ? room.bottom : from.y + from.height;
  const y = isLow ? edge + away : edge - away;
  const turn = 10 * Math.sign(x2 - x1);
  const dip = isLow ? -10 : 10;
  const path = `M${x1} ${y1}V${y + dip}Q${x1} ${y} ${x1 + turn} ${y}H${x2 - turn}Q${x2} ${y} ${x2} ${y + dip}V${y2}`;
  return [{ ...link, path, label: { x: (x1 + x2) / 2, y: y - 5 } }];
}

function lanesOf(
  stages: readonly DrawnStage[],
  boxes: ReadonlyMap<string, Box>,
  places: ReadonlyMap<string, Place>,
  roomOf: (row: number) => number,
): readonly TrackLane[] {
  const tracks = Map.groupBy(
    stages.filter(({ track }) => track !== MAIN),
    ({ track }) => track,
  );
  return [...tracks].flatMap(([track, own]): TrackLane[] => {
    const found = own.flatMap(({ id }) => boxes.get(id) ?? []);
    if (found.length === 0) return [];
    const x = Math.min(...found.map((box) => box.x)) - 8;
    const y = Math.min(...found.map((box) => box.y)) - LANE_HEAD;
    const room = roomOf(places.get(own[0]?.id ?? "")?.row ?? 0);
    const right = Math.max(...found.map((box) => box.x + box.width)) + 8;
    const low = Math.max(...found.map((box) => box.y + box.height)) + 8 + room;
    return [{ track, x, y, width: right - x, height: low - y }];
  });
}
