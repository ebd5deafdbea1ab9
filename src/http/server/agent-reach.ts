// The reach of an outside agent's key: the runs in which its agent works outside, or only those of its story. It sees
// nothing else: lists leave other runs out, and their ids answer like unknown ids.

import type { ResolvedFlow } from "../../core/flow/agent.ts";
import { MAIN_TRACK, type WorkStage, worksOf } from "../../core/flow/flow.ts";
import { isPlayedOutside } from "../../core/flow/runner-choice.ts";
import type { Run } from "../../core/run/run.ts";
import { findWork } from "../../core/run/sequence.ts";
import { flowOf } from "../../store/flow-of.ts";
import type { Store } from "../../store/store.ts";
import { findRun } from "./find-run.ts";
import type { AgentPrincipal, Principal } from "./principal.ts";

type At = { readonly run: Run; readonly resolved: ResolvedFlow };

/** True for every other kind of principal: their reach is decided elsewhere. */
export function reaches(principal: Principal, { run, resolved }: At): boolean {
  if (principal.kind !== "agent") return true;
  if (principal.story !== undefined && run.subject.id !== principal.story) return false;
  const { flow } = resolved;
  const expanded = Object.values(run.expanded).flatMap((stages) =>
    stages.flatMap(({ id }) => findWork(flow, run, MAIN_TRACK, id) ?? []),
  );
  return [...flow.stages.flatMap(worksOf), ...expanded].some(
    (stage) => isOwn(principal, stage) && isPlayedOutside(resolved, run.facts, stage),
  );
}

/** Whether this is a stage of the key's own agent. */
export function isOwn(
  { agent }: Pick<AgentPrincipal, "agent">,
  stage: Pick<WorkStage, "agent" | "shownAgent">,
): boolean {
  return stage.shownAgent === agent || stage.agent === agent;
}

export type Reach = (principal: Principal, reference: string) => Promise<boolean>;

/** For routes that name a run. A reference that could be several runs is none of an agent's. */
export function createReach(store: Store): Reach {
  return async (principal, reference) => {
    if (principal.kind !== "agent") return true;
    const found = await findRun(store, reference);
    return found.ok && reaches(principal, { run: found.value.run, resolved: await flowOf(store, found.value.run) });
  };
}
