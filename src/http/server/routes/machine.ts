// The runners and the project of this machine, and the demo; empty without a daemon.

import { isAbsolute } from "node:path";
import { listQueue } from "../../../app/list-queue.ts";
import { lookAtProjects } from "../../../app/look-at-projects.ts";
import { addProject, listProjects, removeProject } from "../../../app/projects.ts";
import type { Refusal } from "../../contract/problem.ts";
import { ROUTES } from "../../contract/routes.ts";
import { err, ok, type Problem } from "../../../core/result.ts";
import { actorOf } from "../actor.ts";
import { findRun } from "../find-run.ts";
import type { MountRoute } from "../mount.ts";
import { queueLimits } from "../worker.ts";
import type { ServerDeps } from "../deps.ts";
import { optional } from "../../../core/optional.ts";

export function mountMachine(mount: MountRoute, deps: ServerDeps): void {
  const { store, runners, project, demo } = deps;
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

  mountProjects(mount, deps);
}

function mountProjects(mount: MountRoute, deps: ServerDeps): void {
  const { home, now, store, project: own } = deps;
  mount.json(ROUTES.listProjects, async () => {
    const known = await lookAtProjects({ home, store, own: (await own?.())?.path ?? null });
    return known.ok ? ok({ projects: known.value.map((each) => ({ ...each })) }) : err(projectRefusal(known.error));
  });

  mount.json(ROUTES.addProject, async ({ body: { folder, name } }) => {
    // A relative path would mean the daemon's own folder, which the caller does not know.
    if (!isAbsolute(folder))
      return err({ code: "project_refused", detail: "The folder is not an absolute path.", pointer: "/folder" });
    const added = addProject(home, { folder, now: now(), ...optional({ name }) });
    return added.ok ? ok(added.value) : err(projectRefusal(added.error));
  });

  mount.json(ROUTES.removeProject, async ({ params: { name } }) => {
    const removed = removeProject(home, name);
    return removed.ok ? ok(removed.value) : err(projectRefusal(removed.error));
  });

  mount.json(ROUTES.showQueue, async () => {
    const known = listProjects(home);
    const names = new Map((known.ok ? known.value : []).map(({ name, folder }) => [folder, name]));
    const queue = await listQueue(store, now(), queueLimits(deps));
    const projects = queue.map(({ project, entries }) => ({
      project,
      name: names.get(project) ?? null,
      entries: entries.map((entry) => ({ ...entry })),
    }));
    return ok({ projects });
  });
}

function projectRefusal({ code, message, hint }: Problem): Refusal {
  return {
    code: code === "unknown_project" ? "project_not_found" : "project_refused",
    detail: message,
    ...optional({ hint }),
  };
}
