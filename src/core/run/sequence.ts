// The order of stages in each track of a run, with dynamic stages expanded. Pure look-ups.

import { holds } from "../flow/condition.ts";
import type { Flow, Stage, StatusRule, WorkStage } from "../flow/flow.ts";
import { MAIN_TRACK } from "../flow/flow.ts";
import { type Around, aroundStage, stagesAfter } from "../flow/target.ts";
import type { Json } from "../json.ts";
import type { RoutedStage } from "../flow/outcome.ts";
import type { ExpandedStage, Run } from "./run.ts";

/** The stages of one track in order. The stages of an expanded dynamic stage follow it. */
export function stagesOf(flow: Flow, run: Pick<Run, "expanded">, track: string): readonly Stage[] {
  if (track !== MAIN_TRACK) return trackPlans(flow)[track] ?? [];
  if (Object.keys(run.expanded).length === 0) return flow.stages;
  return flow.stages.flatMap((stage): Stage[] => {
    if (stage.kind !== "dynamic") return [stage];
    return [stage, ...(run.expanded[stage.id] ?? []).map((expanded) => instantiate(stage.templates, expanded))];
  });
}

export function findStage(flow: Flow, run: Pick<Run, "expanded">, track: string, id: string): Stage | undefined {
  return stagesOf(flow, run, track).find((stage) => stage.id === id);
}

export function findWork(flow: Flow, run: Run, track: string, id: string): WorkStage | undefined {
  const stage = findStage(flow, run, track, id);
  return stage !== undefined && isWork(stage) ? stage : undefined;
}

export function isWork(stage: Stage): stage is WorkStage {
  return stage.kind === "agent" || stage.kind === "builtin" || stage.kind === "router";
}

/** The following stage, or undefined at the end of the track. */
export function stageAfter(flow: Flow, run: Pick<Run, "expanded">, track: string, id: string): Stage | undefined {
  return stagesAfter(stagesOf(flow, run, track), id)[0];
}

/** The stages that a target can name from here. Inside a dynamic stage the work goes back only to stages of the same list. */
export function aroundOf(flow: Flow, run: Pick<Run, "expanded">, track: string, id: string): Around {
  const around = aroundStage(stagesOf(flow, run, track), id);
  const group = Object.values(run.expanded).find((expanded) => expanded.some((stage) => stage.id === id));
  if (group === undefined) return around;
  return { ...around, before: around.before.filter((stage) => group.some((expanded) => expanded.id === stage.id)) };
}

/** Ids for a router's list: the agent's name, numbered if it repeats or is taken. */
export function expand(flow: Flow, list: readonly RoutedStage[]): readonly ExpandedStage[] {
  const taken = new Set(flow.stages.map((stage) => stage.id));
  return list.map((routed) => {
    let id = routed.agent;
    for (let n = 2; taken.has(id); n++) id = `${routed.agent}-${n}`;
    taken.add(id);
    return { ...routed, id };
  });
}

/** The value of a name in this run: inputs, plan, ticket, settings, and how a stage last ended. */
export function factOf(run: Run, path: readonly string[]): Json | undefined {
  if (path[0] === "last" && path.length === 3) {
    const last = run.stages[path[1] ?? ""]?.last;
    if (last === undefined) return undefined;
    const facts: Record<string, Json | undefined> = {
      health: last.health,
      verdict: last.verdict,
      word: last.word,
      score: last.score,
      issues: last.issues,
      open_questions: last.openQuestions,
    };
    return facts[path[2] ?? ""];
  }
  let value: Json | undefined = run.facts;
  for (const key of path) {
    if (value === null || typeof value !== "object" || Array.isArray(value)) return undefined;
    value = Object.hasOwn(value, key) ? (value as { readonly [key: string]: Json | undefined })[key] : undefined;
  }
  return value;
}

export function conditionHolds(run: Run, condition: string): boolean {
  return holds(condition, (path) => factOf(run, path));
}

export function statusWord(run: Run, rule: StatusRule): string {
  if (typeof rule === "string") return rule;
  return conditionHolds(run, rule.when) ? rule.is : rule.else;
}

function instantiate(templates: Readonly<Record<string, WorkStage>>, expanded: ExpandedStage): WorkStage {
  const name = expanded.agent.toLowerCase();
  const template = Object.hasOwn(templates, name) ? templates[name] : templates["*"];
  if (template === undefined) throw new Error(`no template for agent ${expanded.agent}`);
  return {
    ...template,
    id: expanded.id,
    agent: expanded.agent.toLowerCase(),
    shownAgent: expanded.agent,
    teams: expanded.teams,
  };
}

const plansByFlow = new WeakMap<Flow, Record<string, readonly WorkStage[]>>();

function trackPlans(flow: Flow): Record<string, readonly WorkStage[]> {
  const known = plansByFlow.get(flow);
  if (known !== undefined) return known;
  const plans: Record<string, readonly WorkStage[]> = {};
  for (const stage of flow.stages) {
    if (stage.kind !== "parallel") continue;
    for (const [name, plan] of Object.entries(stage.tracks)) plans[name] = plan.stages;
  }
  plansByFlow.set(flow, plans);
  return plans;
}
