// What the server acts with, made from what is open: the store, the engine, the catalog of the daemon's project, git.

import { randomUUID } from "node:crypto";
import { loadCatalog } from "../catalog/catalog.ts";
import { type Acting } from "../compose.ts";
import { detectRunners } from "../runner/detect-runners.ts";
import { loadSettings } from "../settings/load.ts";
import { shippedDir } from "../settings/site.ts";
import { messageOf } from "../core/result.ts";
import { createCommitOf } from "../app/commit-of.ts";
import { resolveFlow } from "../app/start-run/resolve-flow.ts";
import { startDemo } from "../demo/start.ts";
import { systemClock } from "../engine/clock.ts";
import type { Audit } from "../http/server/audit.ts";
import type { EventHub } from "../http/server/events/hub.ts";
import type { Keys } from "../http/server/keys.ts";
import type { ServerParts } from "../http/server/parts.ts";
import { describeWorker } from "../http/server/worker.ts";
import type { DaemonOptions } from "./daemon.ts";
import { createKnownRunners } from "../runner/known.ts";
import { describeProject } from "../git/project-info.ts";
import { openTicketDesk } from "./ticket-desk.ts";
import { wholeDiff } from "../git/whole-diff.ts";
import { optional } from "../core/optional.ts";

type More = DaemonOptions & { readonly audit?: Audit; readonly keys: Keys; readonly hub: EventHub };

export function serverParts(acting: Acting, more: More): ServerParts {
  const { audit, environment, flags, hub, keys, log, project, version } = more;
  const { app, config, engine, home, notifications, person, store } = acting;
  // Read anew each time: flows and agents are files that people edit while the daemon runs.
  const catalog = () => loadCatalog({ shippedDir, projectDir: project });
  const startedAt = systemClock.now();
  const flows: ServerParts["flows"] = {
    list() {
      const known = catalog();
      return known.listFlows().map(({ name, file, origin }) => {
        const read = known.requireFlow(name);
        return { name, title: (read.ok ? read.value.flow.title : undefined) ?? name, file, origin };
      });
    },
    resolve: (name) => resolveFlow(project, name),
    source(name) {
      const known = catalog();
      const entry = known.listFlows().find((flow) => flow.name === name);
      if (entry === undefined) return undefined;
      const text = known.flowText(name);
      const checked = known.requireFlow(name);
      return {
        file: entry.file,
        origin: entry.origin,
        text: text?.ok === true ? text.value : null,
        problems: checked.ok ? checked.value.problems : checked.error,
      };
    },
  };
  const readSettings = () => loadSettings({ environment, project, flags });
  const tickets = openTicketDesk({ acting, project, hub, log, resolve: flows.resolve, loadConfig: readSettings });
  return {
    store,
    app,
    lookAtMerges: acting.wakeMerges,
    runners: createKnownRunners({
      detect: () => detectRunners(environment, project, config),
      now: () => systemClock.now(),
      onProblem: (error) => log.write(`runners: ${messageOf(error)}`),
    }),
    project: () => describeProject(project),
    demo: (actor) => startDemo({ app, store, home, actor }),
    ...optional({ audit }),
    workers: async () => [await describeWorker({ store, slots: config.slots.value, version, startedAt })],
    keys,
    events: hub,
    flows,
    ...optional({ tickets }),
    agents: () =>
      [...catalog().agents().agents.values()].map(({ name, description, model = null, file, origin }) => ({
        name,
        description,
        model,
        file,
        origin,
      })),
    ...(notifications === null ? {} : { deliveries: notifications.deliveries }),
    config,
    home,
    version,
    person,
    now: () => systemClock.now(),
    newId: () => randomUUID().replaceAll("-", ""),
    attemptOf: (token) => engine.attemptOf(token),
    commitOf: createCommitOf(store),
    wholeDiff,
    onProblem: (text, requestId) => log.write(`request ${requestId}: ${text}`),
  };
}
