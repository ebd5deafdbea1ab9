// Opens the server on an opened Passrail: live events, audit log, keys, webhooks, dashboard and every route. The daemon, the server tests
// and the benchmark open it here. Nothing listens before `listen`.

import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { createCommitOf } from "../app/commit-of.ts";
import { findLandingPlace } from "../app/landing-place.ts";
import { createLooseEnds } from "../app/loose-ends.ts";
import { readLastLine } from "../app/now.ts";
import { openUseCases } from "../app/open-use-cases.ts";
import type { UseCaseOptions, UseCases } from "../app/use-cases.ts";
import { optional } from "../core/optional.ts";
import { messageOf, type Result } from "../core/result.ts";
import type { Actor } from "../core/run/event.ts";
import type { Clock } from "../engine/clock.ts";
import type { Engine } from "../engine/engine.ts";
import type { EngineListener } from "../engine/listeners.ts";
import { describeProject } from "../git/project-info.ts";
import { wholeDiff } from "../git/whole-diff.ts";
import type { Notifications } from "../notify/open.ts";
import { detectRunners } from "../runner/detect-runners.ts";
import { createKnownRunners } from "../runner/known.ts";
import { loadSettings, type SettingsFlags } from "../settings/load.ts";
import type { CurrentBudgets } from "../settings/current-budgets.ts";
import type { Settings } from "../settings/settings.ts";
import { createUserSettings } from "../settings/user-settings.ts";
import { type Site, shippedDir } from "../settings/site.ts";
import { openProjectSettings } from "./server/project-settings.ts";
import { openProjectTrust } from "./server/project-trust.ts";
import type { Store } from "../store/store.ts";
import type { Mirror } from "../ticket/mirror/mirror.ts";
import { createApp } from "./server/app.ts";
import type { App } from "./server/app-env.ts";
import { type Audit, createAudit } from "./server/audit.ts";
import { settingsNote } from "./server/audit-request.ts";
import { createFollowedAttempts, type FollowedAttempts } from "./server/events/followed-attempts.ts";
import { createEventHub, type EventHub } from "./server/events/hub.ts";
import { openFlowFiles } from "./server/flow-files.ts";
import { createKeys, type Keys } from "./server/keys.ts";
import { shareKeys } from "./server/shared-keys.ts";
import type { HeadRules } from "./server/guard/head.ts";
import { type Listening, listen, type ListenOptions } from "./server/listen.ts";
import type { ServerDeps, StartedDemo, WorkerNode } from "./server/deps.ts";
import { createLandingAccess, type LandingAccess } from "../ticket/pick/landing-access.ts";
import type { RefusedBoard } from "../ticket/pick/refused-board.ts";
import { landingActs } from "./server/landing-acts.ts";
import { openProjectTickets } from "./server/tickets/open.ts";
import { loadWeb } from "./server/web.ts";
import { describeWorkers } from "./server/worker.ts";
import { openInbound } from "./webhooks/open.ts";

/** The parts of a performing Passrail that the server needs. */
export type ServedPassrail = Pick<Site, "home"> & {
  readonly clock: Clock;
  readonly config: Settings;
  readonly budgets: CurrentBudgets;
  readonly store: Store;
  readonly engine: Engine;
  readonly person: Actor;
  /** Null if no process keeps ticket files. */
  readonly mirror: Mirror | null;
  /** Shared with the process that picks tickets; the server makes its own where none does. */
  readonly access?: LandingAccess;
  /** The starts that the process that picks tickets was refused. */
  readonly refused?: RefusedBoard;
  readonly notifications: Notifications | null;
  /** Removes the secrets that this process knows, and what is shaped like one. */
  readonly redact: (text: string) => string;
  /** Absent where no workers can join. */
  readonly node?: WorkerNode;
  listen(listener: EngineListener): void;
  wakeMerges(): void;
};

export type ServerOptions = Pick<Site, "environment" | "project"> & {
  readonly flags: SettingsFlags;
  readonly version: string;
  readonly log: (line: string) => void;
  readonly demo: (actor: Actor) => Promise<Result<StartedDemo>>;
  /** Collaborators that a test replaces. */
  readonly with?: Partial<Pick<ServerDeps, "attemptOf" | "commitOf" | "store"> & Pick<UseCaseOptions, "engine">>;
};

export type Server = {
  readonly deps: ServerDeps;
  readonly keys: Keys;
  /** The app for this port. */
  appAt(port: number, rules?: Omit<HeadRules, "port">): App;
  listen(options: Omit<ListenOptions, "audit">): Promise<Listening>;
  /** Also stops listening. */
  close(): Promise<void>;
};

const CATCH_UP_MS = 300;

export async function openServer(passrail: ServedPassrail, options: ServerOptions): Promise<Server> {
  const { clock, config, home, notifications, person, store } = passrail;
  const { environment, log, version } = options;
  const onLiveError = (error: unknown): void => log(`live events: ${stackOf(error)}`);
  const hub = createEventHub({ store, now: () => clock.monotonicMs(), onError: onLiveError });
  const followed = createFollowedAttempts({
    home,
    now: () => clock.monotonicMs(),
    tell: (growth) => hub.grown(growth),
    lastLine: (attempt) => readLastLine({ home, redact: passrail.redact }, attempt),
  });
  const audit = createAudit(home, { now: () => clock.now(), onProblem: (text) => log(`audit: ${text}`) });
  audit.record(settingsNote(config, person, version));
  const keys = await createKeys(home, { person, now: () => clock.now() });
  const shared =
    store.nodes === null ? null : await shareKeys(home, store.nodes, (error) => log(`keys: ${stackOf(error)}`));
  const deps = depsOf(passrail, options, { audit, followed, hub, keys });
  const notifier = notifications?.notifier ?? null;
  const onProblem = (text: string): void => log(`webhooks: ${text}`);
  const settings = createUserSettings({ environment, flags: options.flags, initial: config, onProblem });
  const inbound = openInbound({ config, settings, environment, home, deps, notifier, onProblem });
  const web = loadWeb(join(shippedDir, "dist", "web"), join(shippedDir, "dist", "guide"));
  passrail.listen({
    onChange: () => hub.catchUp(),
    onUsage: ({ run, stage, attempt }, usage) =>
      hub.usage({ runId: run.id, subjectId: run.subject.id, stage, attempt, usage }),
  });
  // Other processes write to the store too, such as commands beside the daemon.
  const timer = setInterval(() => hub.catchUp(), CATCH_UP_MS).unref();
  const open: Listening[] = [];
  const appAt: Server["appAt"] = (port, rules = {}) =>
    createApp(deps, { ...rules, port, signed: inbound.signed, ...optional({ web }) });
  return {
    deps,
    keys,
    appAt,
    async listen(where) {
      const appFor = ({ port, ...rules }: HeadRules): App => appAt(port, rules);
      const listening = await listen(appFor, { ...where, audit, onProblem: log });
      open.push(listening);
      return listening;
    },
    async close() {
      clearInterval(timer);
      shared?.close();
      deps.tickets?.known.close();
      followed.close();
      hub.close();
      await Promise.all(open.map((each) => each.close()));
      inbound.close();
      audit.close();
    },
  };
}

type Opened = {
  readonly audit: Audit;
  readonly followed: FollowedAttempts;
  readonly hub: EventHub;
  readonly keys: Keys;
};

function depsOf(passrail: ServedPassrail, options: ServerOptions, { audit, followed, hub, keys }: Opened): ServerDeps {
  const { clock, config, engine, home, notifications, person, store } = passrail;
  const { environment, flags, log, project, version } = options;
  const { agents, flows } = openFlowFiles({ home, project });
  const settingsOf = (of: string) => loadSettings({ home, environment, project: of, flags });
  const readSettings = () => settingsOf(project);
  const startedAt = clock.now();
  const { engine: usedEngine = engine, commitOf = createCommitOf(store), ...replaced } = options.with ?? {};
  const now = () => clock.now();
  const app = openUseCases({ ...passrail, environment, flags, project }, { engine: usedEngine, commitOf });
  const tickets = ticketsOf(passrail, options, { app, hub, readSettings, resolve: flows.resolve });
  return {
    store,
    app,
    config,
    home,
    version,
    person,
    keys,
    audit,
    events: hub,
    followed,
    flows,
    agents,
    ...optional({ tickets }),
    landing: landingActs({ engine: usedEngine, store, home, environment, settings: settingsOf, now }),
    looseEnds: createLooseEnds({
      home,
      project,
      store,
      commitOf,
      tickets: async () => tickets?.known.now(),
      refused: () => tickets?.refused?.() ?? new Map(),
    }),
    ...(notifications === null ? {} : { deliveries: notifications.deliveries }),
    lookAtMerges: () => passrail.wakeMerges(),
    runners: createKnownRunners({
      detect: () => detectRunners(environment, project, config),
      now: () => clock.now(),
      onProblem: (error) => log(`runners: ${messageOf(error)}`),
    }),
    project: () => describeProject(project),
    trust: openProjectTrust({ home, project }, audit, () => clock.now()),
    settings: openProjectSettings({ site: { home, project, environment }, audit, budgets: passrail.budgets, now }),
    demo: options.demo,
    ...optional({ node: passrail.node }),
    workers: () => describeWorkers({ store, slots: config.slots.value, version, startedAt, node: passrail.node }),
    now: () => clock.now(),
    newId: () => randomUUID().replaceAll("-", ""),
    attemptOf: (token) => engine.attemptOf(token),
    commitOf,
    landingPlace: (of) =>
      findLandingPlace(of, { ...config.merge, mode: config.merge.mode.value }, environment["GH_HOST"]),
    redact: passrail.redact,
    wholeDiff: (run, from, to, shape) => wholeDiff(run, from, to, passrail.redact, shape),
    onProblem: (text, requestId) => log(`request ${requestId}: ${text}`),
    ...replaced,
  };
}

type TicketNeeds = {
  readonly app: UseCases;
  readonly hub: EventHub;
  readonly readSettings: () => Promise<Result<Settings>>;
  readonly resolve: ServerDeps["flows"]["resolve"];
};

function ticketsOf(
  { access, config, home, mirror, refused, store }: ServedPassrail,
  { environment, log, project }: ServerOptions,
  { app, hub, readSettings, resolve }: TicketNeeds,
) {
  if (mirror === null) return undefined;
  return openProjectTickets({
    mirror,
    access: access ?? createLandingAccess({ home, environment }),
    refused,
    app,
    store,
    config,
    home,
    project,
    resolve,
    readSettings,
    onChange: (ids) => hub.hint(ids),
    onProblem: (text) => log(`tickets: ${text}`),
  });
}

function stackOf(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}
