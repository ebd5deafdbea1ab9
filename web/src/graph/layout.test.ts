import { expect, test } from "vitest";
import { type DrawnStage, layoutGraph, SIZE } from "./layout.ts";

const stage = (id: string, to: Readonly<Record<string, string | readonly string[]>>, track = "main"): DrawnStage => ({
  id,
  track,
  ways: Object.entries(to).map(([on, ends]) => ({
    on,
    to: typeof ends === "string" ? [ends] : ends,
    counter: on === "revise" ? "revision" : null,
  })),
});

const FEATURE = [
  stage("start", { approve: "spec", decline: "cancel" }),
  stage("spec", { pass: "build", failed: "escalate" }),
  stage("build", { pass: "qa", failed: "build" }),
  stage("qa", { pass: "ship", revise: "build", reject: "escalate" }),
  stage("ship", { approve: "end", revise: "build" }),
];
const nodesById = (stages: readonly DrawnStage[]) => new Map(layoutGraph(stages).nodes.map((node) => [node.id, node]));

test("the main track is one row from left to right", () => {
  const { nodes, width } = layoutGraph(FEATURE);
  expect(nodes.map(({ id }) => id)).toEqual(["start", "spec", "build", "qa", "ship"]);
  expect(new Set(nodes.map(({ y }) => y)).size).toBe(1);
  nodes.forEach(({ x }, index) => expect(x).toBe(SIZE.pad + index * (SIZE.width + SIZE.gapX)));
  expect(Math.max(...nodes.map((node) => node.x + node.width)) + SIZE.pad).toBe(width);
});

test("a loop is one way back with its counter, and ways out of the flow are not drawn", () => {
  const { edges, height, nodes } = layoutGraph(FEATURE);
  const back = edges.filter(({ is }) => is === "back");
  expect(back.map(({ from, to, counter }) => [from, to, counter])).toEqual([
    ["qa", "build", "revision"],
    ["ship", "build", "revision"],
  ]);
  expect(edges.filter(({ is }) => is === "ahead")).toHaveLength(4);
  expect(edges.some(({ to }) => to === "escalate" || to === "cancel" || to === "end")).toBe(false);
  // Below the stages, at different heights, inside the picture.
  const low = Math.max(...nodes.map((node) => node.y + node.height));
  const heights = back.map(({ label }) => label.y);
  expect(new Set(heights).size).toBe(2);
  for (const y of heights) expect(y > low && y < height).toBe(true);
});

test("parallel tracks are lanes that begin at the same place and lead behind the join", () => {
  const stages = [
    stage("plan", { pass: ["api", "page"] }),
    stage("api", { pass: "api-test" }, "backend"),
    stage("api-test", { pass: "join" }, "backend"),
    stage("page", { pass: "join" }, "frontend"),
    stage("join", { pass: "end" }),
  ];
  const { lanes, edges } = layoutGraph(stages);
  const at = nodesById(stages);
  expect(at.get("api")?.x).toBe(at.get("page")?.x);
  expect(at.get("api")?.y).not.toBe(at.get("page")?.y);
  expect(at.get("join")?.x ?? 0).toBeGreaterThan(at.get("api-test")?.x ?? 0);
  expect(lanes.map(({ track }) => track)).toEqual(["backend", "frontend"]);
  const [one, other] = lanes;
  expect((one?.y ?? 0) + (one?.height ?? 0)).toBeLessThanOrEqual(other?.y ?? 0);
  expect(edges.map(({ from, to, is }) => `${from} ${to} ${is}`).toSorted()).toEqual([
    "api api-test ahead",
    "api-test join ahead",
    "page join ahead",
    "plan api ahead",
    "plan page ahead",
  ]);
});

test("a loop inside of a lane stays in it; one from behind goes around, above to the upper lane and below to the lower", () => {
  const stages = [
    stage("api", { pass: "api-test" }, "backend"),
    stage("api-test", { pass: "join", revise: "api" }, "backend"),
    stage("page", { pass: "page-test" }, "frontend"),
    stage("page-test", { pass: "join" }, "frontend"),
    stage("join", { pass: "end", failed: ["api", "page"] }),
  ];
  const { lanes, edges, height } = layoutGraph(stages);
  const labelOf = (from: string, to: string) =>
    edges.find((edge) => edge.from === from && edge.to === to)?.label.y ?? 0;
  const [upper, lower] = lanes;
  if (upper === undefined || lower === undefined) throw new Error("two lanes are expected");
  expect(upper.y + upper.height).toBeLessThanOrEqual(lower.y);
  expect(labelOf("api-test", "api")).toBeGreaterThan(upper.y);
  expect(labelOf("api-test", "api")).toBeLessThan(upper.y + upper.height);
  expect(labelOf("join", "api")).toBeLessThan(upper.y);
  expect(labelOf("join", "api")).toBeGreaterThan(0);
  expect(labelOf("join", "page")).toBeGreaterThan(lower.y + lower.height);
  expect(labelOf("join", "page")).toBeLessThan(height);
});

test("a leap over stages goes above them", () => {
  const stages = [stage("route", { pass: "a", skip: "c" }), stage("a", { pass: "b" }), stage("b", {}), stage("c", {})];
  const { edges, nodes } = layoutGraph(stages);
  const over = edges.find(({ is }) => is === "over");
  expect(over).toMatchObject({ from: "route", to: "c", on: ["skip"] });
  expect(over?.label.y ?? 0).toBeLessThan(nodes[0]?.y ?? 0);
});

test("several outcomes that lead the same way are one line", () => {
  const { edges } = layoutGraph([stage("a", { pass: "b", warn: "b" }), stage("b", {})]);
  expect(edges).toMatchObject([{ from: "a", to: "b", on: ["pass", "warn"] }]);
});

test("nothing to draw is an empty picture", () => {
  expect(layoutGraph([])).toMatchObject({ nodes: [], edges: [], lanes: [] });
});
