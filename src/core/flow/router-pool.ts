// The agents that a router may choose.

import type { ResolvedFlow } from "./agent.ts";
import type { WorkStage } from "./flow.ts";

/** The pool of the dynamic stages that take this router's list. A run of an earlier version has no pool: there it is every other agent. */
export function routerPool({ flow, agents }: ResolvedFlow, router: Pick<WorkStage, "id" | "agent">): readonly string[] {
  const pools = flow.stages.flatMap((stage) =>
    stage.kind === "dynamic" && stage.from.includes(`${router.id}.stages`) ? [stage.pool] : [],
  );
  if (pools.length === 0 || pools.some((pool) => pool === undefined))
    return Object.keys(agents).filter((name) => name !== router.agent);
  return [...new Set(pools.flatMap((pool) => pool ?? []))].filter((name) => Object.hasOwn(agents, name));
}
