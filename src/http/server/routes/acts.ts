// GET /api/runs/{run}/acts and GET /api/acts: the acts that runs allow now.

import { ROUTES } from "../../contract/routes.ts";
import { ok } from "../../../core/result.ts";
import { findRun } from "../find-run.ts";
import { flowOf } from "../../../store/flow-of.ts";
import type { MountRoute } from "../mount.ts";
import type { ServerDeps } from "../deps.ts";
import { actsOf } from "../views/acts.ts";

export function mountActs(mount: MountRoute, { store, now }: ServerDeps): void {
  mount.json(ROUTES.listActs, async ({ params }) => {
    const found = await findRun(store, params.run);
    if (!found.ok) return found;
    const { run } = found.value;
    const { flow } = await flowOf(store, run);
    return ok({ acts: actsOf(flow, run, now()) });
  });

  mount.json(ROUTES.listActsOfRuns, async ({ query }) => {
    const found = await Promise.all(query.runs.map((reference) => findRun(store, reference)));
    const runs = await Promise.all(
      found.flatMap((each) => {
        if (!each.ok) return [];
        const { run } = each.value;
        return [flowOf(store, run).then(({ flow }) => ({ run: run.id, acts: actsOf(flow, run, now()) }))];
      }),
    );
    return ok({ runs });
  });
}
