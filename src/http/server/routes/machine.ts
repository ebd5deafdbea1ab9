// The runners and the project of this machine, and the demo; empty without a daemon.

import { ROUTES } from "../../contract/routes.ts";
import { err, ok } from "../../../core/result.ts";
import { actorOf } from "../actor.ts";
import { findRun } from "../find-run.ts";
import type { MountRoute } from "../mount.ts";
import type { ServerDeps } from "../deps.ts";
import { optional } from "../../../core/optional.ts";

export function mountMachine(mount: MountRoute, { store, runners, project, demo }: ServerDeps): void {
  mount.json(ROUTES.listRunners, async () => {
    const known = (await runners?.()) ?? { runners: [], checkedAt: null, checking: false };
    return ok({ ...known, runners: known.runners.map((runner) => ({ ...runner })) });
  });

  mount.json(ROUTES.showProject, async () => ok((await project?.()) ?? { path: "", git: null }));

  mount.json(ROUTES.startDemo, async ({ principal }) => {
    if (demo === undefined) return err({ code: "run_refused", detail: "No demo can be played here." });
    const started = await demo(actorOf(principal));
    if (!started.ok) {
      const { message, hint } = started.error;
      return err({ code: "run_refused", detail: message, ...optional({ hint }) });
    }
    const found = await Promise.all(started.value.runIds.map((id) => findRun(store, id)));
    const runs = found.flatMap((each) => (each.ok ? [{ ...each.value.summary }] : []));
    return ok({ project: started.value.project, runs });
  });
}
