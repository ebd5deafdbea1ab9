// Gives a dynamic stage its pool: the agents that a router may choose. These are the ones that the flow names and those that opt in by
// their file; agents of other flows, the router and workers outside never get there by accident.

import type { AgentDefinition } from "../core/flow/agent.ts";
import {
  ANY_TEMPLATE,
  type DynamicStage,
  type Flow,
  isWildcard,
  JUDGE_TEMPLATE,
  type WorkStage,
} from "../core/flow/flow.ts";

export function withPools(flow: Flow, known: ReadonlyMap<string, AgentDefinition>): Flow {
  if (!flow.stages.some(({ kind }) => kind === "dynamic")) return flow;
  const routers = new Set(flow.stages.flatMap((stage) => (stage.kind === "router" ? [stage.agent] : [])));
  return {
    ...flow,
    stages: flow.stages.map((stage) => (stage.kind === "dynamic" ? withPool(stage, known, routers) : stage)),
  };
}

function withPool(
  stage: DynamicStage,
  known: ReadonlyMap<string, AgentDefinition>,
  routers: ReadonlySet<string>,
): DynamicStage {
  const { templates } = stage;
  const named = Object.keys(templates).filter((name) => !isWildcard(name));
  const takesOthers = templates[ANY_TEMPLATE] !== undefined;
  const others = [...known.values()].filter(({ name }) => takesOthers && !Object.hasOwn(templates, name));
  const joined = others.filter(
    ({ name, isRouted, options }) => isRouted && !routers.has(name) && options?.runner !== "outside",
  );
  const own = others.flatMap((agent) => {
    const template = templateFor(templates, agent);
    return template === undefined ? [] : [[agent.name, template] as const];
  });
  return {
    ...stage,
    templates: { ...templates, ...Object.fromEntries(own) },
    pool: [...named.filter((name) => known.has(name)), ...joined.map(({ name }) => name)].toSorted(),
  };
}

/** A template of its own for an agent whose file says more than the flow's template for any agent. */
function templateFor(templates: DynamicStage["templates"], agent: AgentDefinition): WorkStage | undefined {
  const judge = agent.judges ? templates[JUDGE_TEMPLATE] : undefined;
  const base = judge ?? templates[ANY_TEMPLATE];
  if (base === undefined || (judge === undefined && agent.reads === undefined && agent.writes === undefined))
    return undefined;
  return {
    ...base,
    agent: agent.name,
    shownAgent: agent.name,
    reads: agent.reads ?? base.reads,
    writes: agent.writes ?? base.writes,
  };
}
