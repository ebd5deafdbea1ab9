// The flows of runs, by hash. A flow does not change under its hash, so each is written once and read once.

import type { ResolvedFlow } from "../core/flow/agent.ts";
import type { Store } from "../store/store.ts";

export type RunFlows = {
  save(resolved: ResolvedFlow): Promise<void>;
  /** Throws if the store does not have it: every run's flow is saved before the run. */
  of(hash: string): Promise<ResolvedFlow>;
};

export function createRunFlows(store: Pick<Store, "saveFlow" | "loadFlow">): RunFlows {
  const known = new Map<string, ResolvedFlow>();
  const saved = new Map<string, Promise<void>>();
  return {
    save(resolved) {
      const { hash } = resolved;
      known.set(hash, resolved);
      const saving = saved.get(hash) ?? store.saveFlow(resolved);
      saved.set(hash, saving);
      saving.catch(() => saved.delete(hash));
      return saving;
    },
    async of(hash) {
      const flow = known.get(hash) ?? (await store.loadFlow(hash));
      if (flow === undefined) throw new Error(`the flow ${hash} of this run is not in the store`);
      known.set(hash, flow);
      return flow;
    },
  };
}
