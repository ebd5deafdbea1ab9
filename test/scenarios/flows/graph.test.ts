// The drawn graph against the engine: random outcomes are played through the one rule, and every step it takes must be an edge of the drawing.

import { expect, test } from "vitest";
import { parse } from "yaml";
import { edgesOf, NODE, nodeId, templateId } from "../../../src/cli/commands/flow/edges.ts";
import { type Flow, MAIN_TRACK, resolveFlow } from "../../../src/core/flow/flow.ts";
import { flowFileSchema } from "../../../src/core/flow/flow-file.ts";
import { isRelative } from "../../../src/core/flow/target.ts";
import type { RunEvent } from "../../../src/core/run/event.ts";
import type { Carry } from "../../../src/core/run/run.ts";
import { isWork } from "../../../src/core/run/sequence.ts";
import { type Expected, type ScriptedOutcome, type Simulation, simulate } from "../../../src/core/run/simulate.ts";
import { NOT_STARTED, waysOf } from "../../../src/core/run/targets.ts";
import { checkFlow } from "../../../src/core/check/check-flow.ts";
import { SHIPPED, shippedFlow } from "../../harness/shipped.ts";

const WALKS = 40;
const STEPS = 25;

/** A stage that only `enter` reaches stands right before the one that sends its work back. */
const DRIFT = `
flow: drift
version: 1
subject: ticket
allow_ungated: true
counters: { loop: { max_loops: 2 } }
enter: { New: build, Patch: shortcut }
stages:
  - { id: build, agent: builder }
  - { id: shortcut, agent: patcher, reach: enter-only }
  - { id: qa, agent: tester, route: { revise: { goto: prev, counter: loop } } }
`;
const drift = resolveFlow(flowFileSchema.parse(parse(DRIFT)));

test("a stage that only `enter` reaches is not the one before: graph, ways and engine agree", () => {
  const drawn = edgesOf(drift).filter(({ from, label }) => from === nodeId("qa") && label.startsWith("revise"));
  expect(drawn.map(({ to }) => to)).toEqual([nodeId("build")]);
  const qa = drift.stages.find(({ id }) => id === "qa");
  if (qa === undefined) throw new Error("no stage qa");
  expect(waysOf(drift, NOT_STARTED, MAIN_TRACK, qa).find(({ on }) => on === "revise")?.to).toEqual(["build"]);
  const script = [
    { stage: "build", health: "complete" },
    { stage: "qa", verdict: "revise", issues: ["no tests"] },
  ];
  expect(simulate(drift, script, { facts: { ticket: { status: "New" } } }).final.stage).toBe("build");
});

test("`goto: prev` with only enter-only agents before it is refused, because the engine would find no stage", () => {
  const file = parse(
    DRIFT.replace("enter: { New: build, Patch: shortcut }", "enter: { New: qa, Patch: shortcut }"),
  ) as {
    stages: object[];
  };
  file.stages = file.stages.slice(1);
  const check = checkFlow(file, {
    agents: new Set(["patcher", "tester"]),
    prompts: new Set(),
    builtins: new Set(),
  });
  expect(check.ok ? [] : check.error.map(({ message }) => message)).toContainEqual(
    expect.stringContaining("there is no agent's stage before qa"),
  );
});

test.each([["drift", drift] as const, ...SHIPPED.map((name) => [name, shippedFlow(name)] as const)])(
  "%s: every step of the engine is an edge of its drawing, and every way back that is drawn is taken",
  (_name, flow) => {
    const drawn = new Set(edgesOf(flow).map(({ from, to }) => `${from} ${to}`));
    const taken = new Set<string>();
    for (let seed = 1; seed <= WALKS; seed++) {
      for (const { from, to, isAgent } of stepsOf(flow, walk(flow, seed))) {
        const edge = `${from} ${to}`;
        taken.add(edge);
        const shared = isAgent ? [`${NODE.everyAgent} ${to}`] : [];
        expect(
          [edge, ...shared].some((each) => drawn.has(each)),
          `${edge} (seed ${seed})`,
        ).toBe(true);
      }
    }
    expect(taken.size).toBeGreaterThan(0);
    for (const edge of relativeEdges(flow)) expect([...taken], `drawn and never taken: ${edge}`).toContain(edge);
  },
);

/** Plays random outcomes, each of them one that fits; the same seed plays the same. */
function walk(flow: Flow, seed: number): Simulation {
  const random = mulberry(seed);
  const pick = <T>(list: readonly T[]): T | undefined => list[Math.floor(random() * list.length)];
  const facts = factsOf(flow, pick);
  // Passrail's own stage succeeds at once unless the script says more.
  const [first] = flow.stages;
  let script: ScriptedOutcome[] = first?.kind === "builtin" ? [{ stage: first.id, word: "pull-request" }] : [];
  let played = simulate(flow, script, { facts });
  for (let step = 0; step < STEPS; step++) {
    const next = pick(played.trace.at(-1)?.next ?? []);
    const outcome = next === undefined ? undefined : outcomeFor(flow, next, pick);
    if (outcome === undefined) break;
    const longer = simulate(flow, [...script, outcome], { facts });
    if (longer.problem !== null) continue;
    script = [...script, outcome];
    played = longer;
  }
  return played;
}

type Pick = <T>(list: readonly T[]) => T | undefined;

function factsOf(flow: Flow, pick: Pick) {
  const status = pick(Object.keys(flow.enter));
  return {
    ...(status === undefined ? {} : { ticket: { status } }),
    plan: { new_infra: pick([true, false]) ?? false },
  };
}

function outcomeFor(flow: Flow, next: Expected, pick: Pick): ScriptedOutcome | undefined {
  if (next.kind === "stopped") return undefined;
  if (next.kind !== "stage")
    return { at: next.stage, kind: next.kind, answer: pick(next.answers) ?? "yes", text: "yes" };
  const { stage } = next;
  const isRouter = flow.stages.find(({ id }) => id === stage)?.kind === "router";
  const stages = pick([["builder", "reviewer"], ["architect", "builder", "reviewer"], ["reviewer"]]) ?? [];
  if (isRouter && pick([true, true, false]) === true) return { stage, stages };
  const own = Object.keys(flow.words.verdict);
  const words = own.length === 0 ? ["pass", "revise", "reject"] : own;
  const verdict = pick([...words, ...words, undefined]);
  if (verdict !== undefined) return { stage, verdict, issues: [`${stage} ${pick([1, 2, 3])}`] };
  return { stage, health: pick(["complete", "blocked", "failed", "incomplete"]) ?? "complete", questions: ["why?"] };
}

type Step = { readonly from: string; readonly to: string; readonly isAgent: boolean };
type Nodes = ReadonlyMap<string, { readonly node: string; readonly isAgent: boolean; readonly list: string | null }>;

/** The node of every stage: those of the main track, and the stages of a router's list, which are drawn by their templates. */
function nodesOf(flow: Flow, events: readonly RunEvent[]): Nodes {
  const nodes = new Map<string, { node: string; isAgent: boolean; list: string | null }>();
  for (const { id, kind } of flow.stages) nodes.set(id, { node: nodeId(id), isAgent: kind === "agent", list: null });
  for (const event of events) {
    const dynamic = event.type === "stage.expanded" ? flow.stages.find(({ id }) => id === event.stage) : undefined;
    if (event.type !== "stage.expanded" || dynamic?.kind !== "dynamic") continue;
    for (const { id, agent } of event.stages) {
      const template = agent in dynamic.templates ? agent : "*";
      nodes.set(id, { node: templateId(dynamic, template), isAgent: true, list: nodeId(dynamic.id) });
    }
  }
  return nodes;
}

/** The edges that the events show. Steps inside a fork, and from one stage of a list to the next, have no edge of their own. */
function stepsOf(flow: Flow, { events }: Simulation): readonly Step[] {
  const nodes = nodesOf(flow, events);
  const steps: Step[] = [];
  let skipped: string[] = [];
  for (const event of events) {
    if (event.type === "stage.skipped") skipped.push(event.stage);
    else if (event.type === "stage.ready" && event.track === MAIN_TRACK) lead(event.carry, event.stage);
    else if (event.type === "gate.opened") lead(event.carry, event.item.stage);
    else if (event.type === "escalation.opened" && event.track === MAIN_TRACK) lead(event.carry, NODE.escalation);
  }
  return steps;

  function lead(carry: Carry, to: string): void {
    const path = [carry.from, ...skipped, to];
    skipped = [];
    // A person's "again", a crash and an answer to a question lead by other rules than routes.
    if (["again", "interrupted", "answered"].includes(carry.reason)) return;
    for (const [index, id] of path.slice(1).entries()) {
      const from = nodes.get(path[index] ?? "");
      const end = nodes.get(id);
      if (from === undefined) continue;
      const isOnward = end?.list != null && from.list === end.list && carry.reason !== "sent-back";
      const entered = end?.list != null && from.list !== end.list ? end.list : (end?.node ?? id);
      if (!isOnward) steps.push({ from: from.node, to: entered, isAgent: from.isAgent });
    }
  }
}

/** The drawn edges of routes whose target is another stage for each sender, outside of forks and lists. */
function relativeEdges(flow: Flow): readonly string[] {
  return flow.stages.flatMap((stage) => {
    if (!isWork(stage)) return [];
    return Object.entries(stage.route).flatMap(([key, route]) =>
      isRelative(route.goto)
        ? edgesOf(flow)
            .filter(({ from, label }) => from === nodeId(stage.id) && label.startsWith(key))
            .map(({ from, to }) => `${from} ${to}`)
        : [],
    );
  });
}

function mulberry(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}
