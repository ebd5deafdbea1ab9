// The flow of a stored run. A run without its flow is a broken store, so this throws.

import type { ResolvedFlow } from "../core/flow/agent.ts";
import type { Run } from "../core/run/run.ts";
import type { Store } from "./store.ts";

export async function flowOf(
  store: Pick<Store, "loadFlow">,
  { flowHash }: Pick<Run, "flowHash">,
): Promise<ResolvedFlow> {
  const resolved = await store.loadFlow(flowHash);
  if (resolved === undefined) throw new Error(`the flow ${flowHash} of a run is not in the store`);
  return resolved;
}
