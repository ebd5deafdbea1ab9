// How a task would be routed, without a model: which agents may be chosen and why, which rule fires without a usable
// answer, and why the others do not.

import type { ResolvedFlow } from "../flow/agent.ts";
import { isWildcard } from "../flow/flow.ts";
import type { RouterFallback } from "../flow/router-fallback.ts";
import { routerPool } from "../flow/router-pool.ts";
import { lookAtRules, type RuleLook } from "../flow/router-rules.ts";

export type PoolMember = { readonly agent: string; readonly description: string; readonly why: string };

export type RouteExplanation = {
  /** The stage whose router chooses. */
  readonly stage: string;
  readonly agent: string;
  readonly model: string | null;
  readonly maxTokens: number | null;
  readonly fallback: RouterFallback;
  readonly pool: readonly PoolMember[];
  /** Agents of the catalog that it may not choose. */
  readonly others: readonly string[];
  /** In order; the first with `why` fires. Stages that are not in the pool are left out. */
  readonly rules: readonly (RuleLook & { readonly fires: boolean })[];
};

/** One explanation per router of the flow; empty for a flow without one. */
export function explainRoute(resolved: ResolvedFlow, task: string): readonly RouteExplanation[] {
  return resolved.flow.stages.flatMap((stage) => {
    if (stage.kind !== "router") return [];
    const names = routerPool(resolved, stage);
    const looks = lookAtRules(task);
    const first = looks.find(({ why }) => why !== undefined);
    return [
      {
        stage: stage.id,
        agent: stage.agent,
        model: stage.model ?? resolved.agents[stage.agent]?.model ?? null,
        maxTokens: stage.maxTokens ?? null,
        fallback: stage.fallback,
        pool: names.map((agent) => ({
          agent,
          description: resolved.agents[agent]?.description ?? "",
          why: whyIn(resolved, stage.id, agent),
        })),
        others: Object.keys(resolved.agents).filter((name) => !names.includes(name)),
        rules: looks.map((look) => ({
          ...look,
          stages: look.stages.filter(({ agent }) => names.includes(agent)),
          fires: look === first && stage.fallback !== "stop",
        })),
      },
    ];
  });
}

function whyIn({ flow, agents }: ResolvedFlow, router: string, agent: string): string {
  const isOptIn = agents[agent]?.isRouted === true;
  const isNamed = flow.stages.some(
    (stage) =>
      stage.kind === "dynamic" &&
      stage.from.includes(`${router}.stages`) &&
      Object.keys(stage.templates).some((name) => !isWildcard(name) && name === agent),
  );
  if (isOptIn) return "its file opts in (router: true)";
  return isNamed ? "the flow names it" : "every agent may be chosen";
}
