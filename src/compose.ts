// Builds the object graph; the only file that knows every adapter. `openPassrail` takes the lock and opens store and engine, but performs
// nothing. The caller acts, calls `perform`, and finally `close`. Import this file only to act, because it loads every adapter.

import { randomUUID } from "node:crypto";
import { mkdirSync, realpathSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { createCommitOf } from "./app/commit-of.ts";
import { planRun } from "./app/start-run/start-run.ts";
import { createUseCases, type UseCases } from "./app/use-cases.ts";
import { storeMark } from "./attempt/attempt-files.ts";
import { builtins } from "./attempt/builtins.ts";
import { runStage } from "./attempt/run-stage.ts";
import { meteredBy } from "./core/flow/metered.ts";
import { runnerChoiceOf } from "./core/flow/runner-choice.ts";
import { err, ok, type Problem, type Result } from "./core/result.ts";
import type { Actor } from "./core/run/event.ts";
import { systemClock } from "./engine/clock.ts";
import { createEngine, type Engine } from "./engine/engine.ts";
import type { EngineOptions } from "./engine/options.ts";
import { createListeners, type EngineListener, type EngineListeners } from "./engine/listeners.ts";
import { createStageLogs } from "./engine/stage-log.ts";
import { readYamlList } from "./file/yaml-list.ts";
import type { Notifier } from "./notify/notify.ts";
import { type Notifications, openNotifications } from "./notify/open.ts";
import { openRunners } from "./runner/open.ts";
import { childEnvironment } from "./runner/process/environment.ts";
import { killLeftovers } from "./runner/process/kill-tree.ts";
import { findMarked } from "./runner/process/process-table.ts";
import { loadSettings, type SettingsFlags } from "./settings/load.ts";
import { withProjectKeys } from "./settings/project-keys.ts";
import type { Settings } from "./settings/settings.ts";
import { type Site, storeFile } from "./settings/site.ts";
import { type EngineLock, takeEngineLock } from "./store/sqlite/lock.ts";
import { openSqliteStore } from "./store/sqlite/open.ts";
import type { Store } from "./store/store.ts";
import { openProjectFolder } from "./ticket/file/project-folder.ts";
import { createWriteTickets } from "./ticket/intake/write-tickets.ts";
import { type LandingDeps, openLanding } from "./ticket/land/open.ts";
import type { MergeWatch } from "./ticket/land/watch.ts";
import { createMirror, type Mirror } from "./ticket/mirror/mirror.ts";
import { createWorkspaces } from "./workspace/providers.ts";

/** `performedBy` distinguishes the two: null for the process that performs. */
export type Passrail = Performer | Observer;

type Opened = Site & {
  readonly config: Settings;
  readonly store: Store;
  readonly engine: Engine;
  /** Every door starts, answers and controls runs through these. */
  readonly app: UseCases;
  /** The acting user, for the record. */
  readonly person: Actor;
  /** Follows the engine from now on. */
  listen(listener: EngineListener): void;
  close(): Promise<void>;
};

/** Holds the lock of the state folder: it starts attempts, writes ticket files and sends notices. */
export type Performer = Opened & {
  readonly performedBy: null;
  /** Keeps ticket files and their runs equal. */
  readonly mirror: Mirror;
  /** Null if the settings name no channel. */
  readonly notifications: Notifications | null;
  /** Sets the address of the API for agents and people; call it before `perform`. */
  setUrl(url: string): void;
  /** Asks the forge about pull requests now instead of at the next poll. */
  wakeMerges(): void;
  /**
   * Recovers attempts of a dead engine and starts everything that is ready. Deliver a cancel before it, otherwise the run starts again.
   * Without `perform`, `close` still ends the processes of a dead engine.
   */
  perform(): Promise<void>;
};

/** Another process holds the lock: this one may deliver signals but starts nothing. */
export type Observer = Opened & { readonly performedBy: string };

export type PassrailOptions = Site & {
  readonly flags: SettingsFlags;
  readonly onError: EngineOptions["onError"];
  /** Instead of the notifier that the settings describe. */
  readonly notifier?: Notifier;
};

const CATCH_UP_MS = 200;

export async function openPassrail(options: PassrailOptions): Promise<Result<Passrail>> {
  const environment = withProjectKeys(options.environment, options.project);
  mkdirSync(options.home, { recursive: true, mode: 0o700 });
  const site: Site = { home: realpathSync(options.home), project: options.project, environment };
  const config = await loadSettings({ ...site, flags: options.flags });
  if (!config.ok) return config;
  // The lock comes first: it decides which parts are opened.
  const lock = takeEngineLock(site.home);
  try {
    const store = openSqliteStore({ file: storeFile(site.home) });
    const base: Base = { ...options, ...site, config: config.value, store, address: { url: "" } };
    return ok("release" in lock ? openPerformer(base, lock) : openObserver(base, lock.heldBy));
  } catch (error) {
    if ("release" in lock) lock.release();
    throw error;
  }
}

/** For callers that must perform: if another process holds the lock, closes Passrail and returns an error. */
export async function requirePerformer(passrail: Passrail): Promise<Result<Performer>> {
  if (passrail.performedBy === null) return ok(passrail);
  await passrail.close();
  return err(performedAlready(passrail.home, passrail.performedBy));
}

/** The parts of both kinds. */
type Base = PassrailOptions & {
  readonly config: Settings;
  readonly store: Store;
  /** Empty until something listens. */
  readonly address: { url: string };
};

function openObserver(base: Base, heldBy: string): Observer {
  const { engine, listeners, closeRunners } = openEngine(base, base.notifier ?? null);
  return {
    ...openedOf(base, engine, listeners),
    performedBy: heldBy,
    async close() {
      await engine.close();
      await closeRunners();
      base.store.close();
    },
  };
}

function openPerformer(base: Base, lock: EngineLock): Performer {
  const { address, environment, home, onError, store } = base;
  const notifications = base.notifier === undefined ? notificationsOf(base) : null;
  const opened = openEngine(base, base.notifier ?? notifications?.notifier ?? null);
  const { engine, landing, listeners, closeRunners } = opened;
  const mirror = createMirror({
    store,
    deliver: (...signal) => engine.deliver(...signal),
    folderOf: (project) => openProjectFolder(project, environment),
    logFile: join(home, "tickets.jsonl"),
    onProblem: onError,
  });
  const stageLogs = createStageLogs({ home, store, onError });
  if (notifications !== null) listeners.add(notifications);
  listeners.add(mirror);
  listeners.add(stageLogs);
  let performing: Performing | null = null;
  return {
    ...openedOf(base, engine, listeners),
    performedBy: null,
    mirror,
    notifications,
    setUrl: (url) => void (address.url = url),
    wakeMerges: () => performing?.merges.wake(),
    async perform() {
      await mirror.start();
      await engine.perform();
      void stageLogs.catchUp().catch((error: unknown) => onError(null, error));
      performing = { merges: landing.watch(engine), timer: keepCatchingUp(engine, onError) };
    },
    async close() {
      clearInterval(performing?.timer);
      await performing?.merges.close();
      await engine.close();
      if (performing === null) await endLeftovers(home);
      await mirror.close();
      await stageLogs.close();
      await notifications?.close();
      await closeRunners();
      store.close();
      lock.release();
    },
  };
}

type Performing = { readonly merges: MergeWatch; readonly timer: NodeJS.Timeout };

function openedOf(base: Base, engine: Engine, listeners: EngineListeners): Omit<Opened, "close"> {
  const { config, environment, flags, home, project, store } = base;
  const place = { project, settings: () => loadSettings({ environment, project, flags }) };
  return {
    home,
    project,
    environment,
    config,
    store,
    engine,
    app: createUseCases({
      engine,
      store,
      now: () => systemClock.now(),
      commitOf: createCommitOf(store),
      planRun: (request) => planRun(place, request),
    }),
    person: `human:${userInfo().username}`,
    listen: (listener) => listeners.add(listener),
  };
}

type OpenedEngine = {
  readonly engine: Engine;
  readonly listeners: EngineListeners;
  readonly landing: LandingDeps;
  readonly closeRunners: () => Promise<void>;
};

function openEngine(base: Base, notifier: Notifier | null): OpenedEngine {
  const { address, config, environment, home, onError, store } = base;
  const runners = openRunners(environment, config);
  const listeners = createListeners();
  const landing = landingOf(base, runners.redact);
  const engine = createEngine({
    store,
    clock: systemClock,
    slots: config.slots.value,
    agentLimits: config.agentLimits,
    runStage,
    runners,
    builtins: {
      ...builtins,
      "write-tickets": createWriteTickets((project) => openProjectFolder(project, environment)),
      land: landing.land,
    },
    metered: (resolved, run, stage) => meteredBy(runnerChoiceOf(resolved, run.facts, stage)),
    budgets: () => config.budgets,
    processes: { killLeftovers, findMarked },
    workspaces: createWorkspaces({ home, settings: config.workspaces, environment }),
    keepWorkspaces: config.workspaces.keep === true,
    notifier,
    home,
    storeId: storeMark(home),
    newId: () => randomUUID().replaceAll("-", ""),
    url: () => address.url,
    readYaml: readYamlList,
    onChange: listeners.onChange,
    onElsewhere: listeners.onElsewhere,
    beforeWork: listeners.beforeWork,
    onError,
  });
  return { engine, listeners, landing, closeRunners: () => runners.desk.close() };
}

function landingOf(base: Base, redact: (text: string) => string): LandingDeps {
  const { address, config, environment, home, onError, store } = base;
  return openLanding({
    home,
    store,
    environment,
    settings: { ...config.merge, mode: config.merge.mode.value },
    ticketsFolder: config.tickets.folder,
    folderOf: (project) => openProjectFolder(project, environment),
    checkEnvironment: childEnvironment(environment, {}, config.passEnvironment),
    redact,
    url: () => address.url,
    onProblem: onError,
  });
}

/** The delivery log has one writer, so only the process that performs opens it. */
function notificationsOf({ address, config, environment, home, onError, store }: Base): Notifications | null {
  const onProblem = (text: string): void => onError(null, new Error(text));
  return openNotifications({ config, environment, home, store, url: () => address.url, onProblem });
}

/** Other processes write to the store too, such as commands beside a daemon. */
function keepCatchingUp(engine: Engine, onError: PassrailOptions["onError"]): NodeJS.Timeout {
  const catchUp = (): void => void engine.catchUp().catch((error: unknown) => onError(null, error));
  return setInterval(catchUp, CATCH_UP_MS).unref();
}

/** We hold the lock and started nothing, so a dead engine left every process with this store's marker. */
async function endLeftovers(home: string): Promise<void> {
  for (const { marker } of findMarked(`${storeMark(home)}/`)) await killLeftovers({ marker });
}

function performedAlready(home: string, heldBy: string): Problem {
  return {
    code: "already_performed",
    message: `Another process works on ${home}: ${heldBy}.`,
    hint: "passrail status   shows it; passrail down   stops a daemon",
  };
}
