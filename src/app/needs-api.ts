// Whether agents of the runs that may work now speak to the API: they need its address before they start.

import { type Flow, worksOf } from "../core/flow/flow.ts";
import { flowOf } from "../store/flow-of.ts";
import type { Store } from "../store/store.ts";

export async function needsApi(store: Pick<Store, "activeRuns" | "loadFlow" | "loadRun">): Promise<boolean> {
  for (const runId of await store.activeRuns()) {
    const stored = await store.loadRun(runId);
    if (stored !== undefined && speaksToApi((await flowOf(store, stored.run)).flow)) return true;
  }
  return false;
}

/** A stage reports over the API, or its prompt names the API's address. */
function speaksToApi({ stages }: Flow): boolean {
  return stages
    .flatMap(worksOf)
    .some(({ result, vars }) => result.from === "handoff-api" || vars.includes("DASHBOARD_URL"));
}
