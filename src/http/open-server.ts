// Opens the server on an opened Passrail: live events, audit log, keys, webhooks, dashboard and every route. The daemon, the server tests and
// the benchmark all open it here. Nothing listens before `listen`.

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { createCommitOf } from "../app/commit-of.ts";
import { prepareRun } from "../app/start-run/prepare.ts";
import type { Json } from "../core/json.ts";
import { optional } from "../core/optional.ts";
import { messageOf, ok, type Result } from "../core/result.ts";
import type { Actor } from "../core/run/event.ts";
import { systemClock } from "../engine/clock.ts";
import type { Engine } from "../engine/engine.ts";
import type { EngineListener } from "../engine/listeners.ts";
import { describeProject } from "../git/project-info.ts";
import { wholeDiff } from "../git/whole-diff.ts";
import type { Notifications } from "../notify/open.ts";
import { detectRunners } from "../runner/detect-runners.ts";
import { createKnownRunners } from "../runner/known.ts";
import { loadSettings, type SettingsFlags } from "../settings/load.ts";
import type { Settings } from "../settings/settings.ts";
import { type Site, shippedDir } from "../settings/site.ts";
import type { Store } from "../store/store.ts";
import type { Mirror } from "../ticket/mirror/mirror.ts";
import { createApp } from "./server/app.ts";
import type { App } from "./server/app-env.ts";
import { type Audit, createAudit } from "./server/audit.ts";
import { settingsNote } from "./server/audit-request.ts";
import { createEventHub, type EventHub } from "./server/events/hub.ts";
import { openFlowFiles } from "./server/flow-files.ts";
import { createKeys, type Keys } from "./server/keys.ts";
import { type Listening, listen, type ListenOptions } from "./server/listen.ts";
import type { ServerParts, StartedDemo } from "./server/parts.ts";
import { openProjectTickets } from "./server/tickets/open.ts";
import { loadWeb } from "./server/web.ts";
import { describeWorker } from "./server/worker.ts";
import { openInbound } from "./webhooks/open.ts";

/** What the server needs of an opened Passrail that performs. */
export type ServedPassrail = Pick<Site, "home"> & {
  readonly config: Settings;
  readonly store: Store;
  readonly engine: Engine;
  readonly person: Actor;
  /** Null where no process keeps ticket files. */
  readonly mirror: Mirror | null;
  readonly notifications: Notifications | null;
  newRunId(): string;
  listen(listener: EngineListener): void;
  wakeMerges(): void;
};

export type ServerOptions = Pick<Site, "environment" | "project"> & {
  readonly flags: SettingsFlags;
  readonly version: string;
  readonly log: (line: string) => void;
  readonly demo: (actor: Actor) => Promise<Result<StartedDemo>>;
  /** Collaborators that a test replaces. */
  readonly with?: Partial<Pick<ServerParts, "attemptOf" | "commitOf" | "engine" | "store">>;
};

export type Server = {
  readonly parts: ServerParts;
  readonly keys: Keys;
  /** The app as it answers at this port. */
  appAt(port: number, hosts?: readonly string[]): App;
  listen(options: Omit<ListenOptions, "audit">): Promise<Listening>;
  /** Stops listening, too. */
  close(): Promise<void>;
};

const CATCH_UP_MS = 300;

export async function openServer(passrail: ServedPassrail, options: ServerOptions): Promise<Server> {
  const { config, home, notifications, person, store } = passrail;
  const { environment, log, version } = options;
  const onLiveError = (error: unknown): void => log(`live events: ${stackOf(error)}`);
  const hub = createEventHub({ store, now: () => systemClock.monotonicMs(), onError: onLiveError });
  const audit = createAudit(home, { now: () => systemClock.now(), onProblem: (text) => log(`audit: ${text}`) });
  audit.record(settingsNote(config, person, version));
  const keys = await createKeys(home, { person, now: () => systemClock.now() });
  const parts = partsOf(passrail, options, { audit, hub, keys });
  const notifier = notifications?.notifier ?? null;
  const onProblem = (text: string): void => log(`webhooks: ${text}`);
  const inbound = openInbound({ config, environment, home, parts, notifier, onProblem });
  const web = loadWeb(join(shippedDir, "dist", "web"));
  passrail.listen({ onChange: () => hub.catchUp() });
  // Other processes store things too: commands beside the daemon.
  const timer = setInterval(() => hub.catchUp(), CATCH_UP_MS).unref();
  const open: Listening[] = [];
  const appAt: Server["appAt"] = (port, hosts = []) =>
    createApp(parts, { port, hosts, signed: inbound.signed, ...optional({ web }) });
  return {
    parts,
    keys,
    appAt,
    async listen(where) {
      const { host = "127.0.0.1", hosts = [] } = where;
      const listening = await listen((port) => appAt(port, [...hosts, `${host}:${port}`]), { ...where, audit });
      open.push(listening);
      return listening;
    },
    async close() {
      clearInterval(timer);
      parts.tickets?.known.close();
      hub.close();
      await Promise.all(open.map((each) => each.close()));
      inbound.close();
      audit.close();
    },
  };
}

type Opened = { readonly audit: Audit; readonly hub: EventHub; readonly keys: Keys };

function partsOf(passrail: ServedPassrail, options: ServerOptions, { audit, hub, keys }: Opened): ServerParts {
  const { config, engine, home, notifications, person, store } = passrail;
  const { environment, flags, log, project, version } = options;
  const { agents, flows } = openFlowFiles(project);
  const readSettings = () => loadSettings({ environment, project, flags });
  const startedAt = systemClock.now();
  return {
    store,
    engine,
    config,
    home,
    version,
    person,
    keys,
    audit,
    events: hub,
    flows,
    agents,
    ...optional({ tickets: ticketsOf(passrail, options, { hub, readSettings, resolve: flows.resolve }) }),
    ...(notifications === null ? {} : { deliveries: notifications.deliveries }),
    lookAtMerges: () => passrail.wakeMerges(),
    runners: createKnownRunners({
      detect: () => detectRunners(environment, project, config),
      now: () => systemClock.now(),
      onProblem: (error) => log(`runners: ${messageOf(error)}`),
    }),
    project: () => describeProject(project),
    demo: options.demo,
    workers: async () => [await describeWorker({ store, slots: config.slots.value, version, startedAt })],
    prepare: prepareIn(project, readSettings),
    now: () => systemClock.now(),
    newId: () => randomUUID().replaceAll("-", ""),
    newRunId: () => passrail.newRunId(),
    attemptOf: (token) => engine.attemptOf(token),
    commitOf: createCommitOf(store),
    wholeDiff,
    onProblem: (text, requestId) => log(`request ${requestId}: ${text}`),
    ...options.with,
  };
}

type TicketNeeds = {
  readonly hub: EventHub;
  readonly readSettings: () => Promise<Result<Settings>>;
  readonly resolve: ServerParts["flows"]["resolve"];
};

function ticketsOf(
  { config, engine, mirror, store }: ServedPassrail,
  { log, project }: ServerOptions,
  { hub, readSettings, resolve }: TicketNeeds,
) {
  if (mirror === null) return undefined;
  return openProjectTickets({
    mirror,
    engine,
    store,
    config,
    project,
    resolve,
    readSettings,
    onChange: (ids) => hub.hint(ids),
    onProblem: (text) => log(`tickets: ${text}`),
  });
}

function prepareIn(project: string, readSettings: () => Promise<Result<Settings>>): ServerParts["prepare"] {
  return async ({ resolved, subject, input, workspace, agents = {} }) => {
    const now = await readSettings();
    if (!now.ok) return now;
    const given = Object.entries(input).flatMap(([name, value]): [string, Json][] =>
      value === undefined ? [] : [[name, value]],
    );
    const chosen = Object.entries(agents).map(([name, runner]) => `${name}=${runner}`);
    const prepared = await prepareRun(
      { resolved, subject, project, cwd: project, input: given, agents: chosen, ...optional({ workspace }) },
      now.value,
    );
    return prepared.ok ? ok(prepared.value.facts) : prepared;
  };
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
