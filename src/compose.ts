// Builds the object graph; the only file that knows every adapter. `openPassrail` takes the lock and opens store and engine, but performs
// nothing. The caller acts, calls `perform`, and finally `close`. Import this file only to act, because it loads every adapter.

import { randomUUID } from "node:crypto";
import { mkdirSync, realpathSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import { openUseCases } from "./app/open-use-cases.ts";
import { withdrawnTrust } from "./app/trust/withdrawn.ts";
import type { UseCases } from "./app/use-cases.ts";
import { storeMark } from "./attempt/attempt-files.ts";
import { builtins } from "./attempt/builtins.ts";
import type { CarriedPlace, CarrierIdentity, ClaimIdentity } from "./attempt/carriers.ts";
import { joinTracks } from "./attempt/join-tracks.ts";
import { runStage } from "./attempt/run-stage.ts";
import { createCarriers } from "./carrier/open.ts";
import { type WorkerBoard, createBoard } from "./claim/board.ts";
import { type WorkerCarriers, withWorkers } from "./claim/carriers.ts";
import { optional } from "./core/optional.ts";
import { meteredBy } from "./core/flow/metered.ts";
import { runnerLadder } from "./core/flow/runner-choice.ts";
import { err, ok, type Problem, type Result } from "./core/result.ts";
import type { Actor } from "./core/run/event.ts";
import { endLeftovers } from "./engine/adopt.ts";
import { type Clock, systemClock } from "./engine/clock.ts";
import { type DayBudgets, openDayBudgets } from "./engine/day-budgets.ts";
import { createEngine, type Engine } from "./engine/engine.ts";
import { type Heartbeat, openHeartbeat } from "./engine/heartbeat.ts";
import { type HookEvent, hookEvent } from "./engine/hook-events.ts";
import type { EngineOptions } from "./engine/options.ts";
import { onlyHere } from "./engine/places.ts";
import { createListeners, type EngineListener, type EngineListeners } from "./engine/listeners.ts";
import { createRunCopies, type RunCopies } from "./engine/run-copies.ts";
import { createStageLogs } from "./engine/stage-log.ts";
import { readYamlList } from "./file/yaml-list.ts";
import { createHookCommands, type HookCommands } from "./notify/hook-commands.ts";
import { openStatusTable } from "./mirror/open.ts";
import { openStatusMirror, type StatusMirror } from "./mirror/status-mirror.ts";
import type { StatusTable } from "./mirror/status-table.ts";
import type { Notifier } from "./notify/notify.ts";
import { type Notifications, openNotifications } from "./notify/open.ts";
import { accountOf } from "./runner/account.ts";
import { openRunners } from "./runner/open.ts";
import type { Runners } from "./runner/runners.ts";
import { sweepCgroups } from "./runner/process/cgroup.ts";
import { killLeftovers } from "./runner/process/kill-tree.ts";
import { findMarked } from "./runner/process/process-table.ts";
import { watchStrays } from "./runner/process/strays.ts";
import { projectOf } from "./core/run/run-settings.ts";
import { createCurrentBudgets, type CurrentBudgets } from "./settings/current-budgets.ts";
import { databaseOf, withoutDatabase } from "./settings/database.ts";
import { loadSettings, projectEnvironment, type SettingsFlags } from "./settings/load.ts";
import { stateFolderProblem } from "./settings/real-folder.ts";
import { nodeId } from "./settings/node-id.ts";
import type { Settings } from "./settings/settings.ts";
import { createUserSettings } from "./settings/user-settings.ts";
import type { Site } from "./settings/site.ts";
import { type HeldLock, openStore, takePerformerLock, type TakenLock } from "./store/open-store.ts";
import { type Store, StoreError } from "./store/store.ts";
import { openProjectFolder } from "./ticket/file/project-folder.ts";
import { createWriteTickets } from "./ticket/intake/write-tickets.ts";
import { type ApprovalWatch, openApprovalWatch } from "./ticket/land/await-approval.ts";
import { type LandingDeps, openLanding } from "./ticket/land/open.ts";
import type { MergeWatch } from "./ticket/land/watch.ts";
import { createMirror, type Mirror } from "./ticket/mirror/mirror.ts";
import { createLandingAccess, type LandingAccess } from "./ticket/pick/landing-access.ts";
import { createRefusedBoard, type RefusedBoard } from "./ticket/pick/refused-board.ts";
import { createWorkspaces } from "./workspace/providers.ts";

/** `performedBy` distinguishes the two: null for the process that performs. */
export type Passrail = Performer | Observer;

type Opened = Site & {
  /** The time of everything that this process decides and records. */
  readonly clock: Clock;
  readonly config: Settings;
  /** Of the settings as they are now. */
  readonly budgets: CurrentBudgets;
  readonly store: Store;
  readonly engine: Engine;
  /** Every door starts, answers and controls runs through these. */
  readonly app: UseCases;
  /** The acting user, for the record. */
  readonly person: Actor;
  /** Removes the secrets that this process knows, and what is shaped like one. */
  readonly redact: (text: string) => string;
  /** Follows the engine from now on. */
  listen(listener: EngineListener): void;
  /** Ends the attempts of this process. `leave`: those with a process of their own work on, and the next engine adopts them. */
  close(how?: "end" | "leave"): Promise<void>;
};

/** Holds the lock of the state folder: it starts attempts, writes ticket files and sends notices. */
export type Performer = Opened & {
  readonly performedBy: null;
  /** Keeps ticket files and their runs equal. */
  readonly mirror: Mirror;
  /** Whether the work of tickets could leave. */
  readonly access: LandingAccess;
  /** The starts of tickets that the dispatcher of this process was refused. */
  readonly refused: RefusedBoard;
  /** Null if the settings name no channel. */
  readonly notifications: Notifications | null;
  /** For workers on other machines. */
  readonly node: { readonly board: WorkerBoard; readonly bundleFor: WorkerCarriers["bundleFor"] };
  /** Whether an attempt that the store says is running works on in a process of its own. */
  isCarried(carrier: CarrierIdentity | ClaimIdentity, place: CarriedPlace): boolean;
  /** Sets the address of the API for agents and people; call it before `perform`. */
  /** `publicUrl`: for links that people open on another machine; null: the same. */
  setUrl(url: string, publicUrl?: string | null): void;
  /**
   * Resolves if this process may not write to the store any more: another one has taken it over, or its file was replaced. The attempts are
   * ended or left to the other process by then; the caller must close and exit.
   */
  readonly fenced: Promise<StoreError>;
  /** Asks the forge about pull requests now instead of at the next poll. */
  wakeMerges(): void;
  /**
   * Adopts or recovers the attempts of a dead engine and starts everything that is ready. Deliver a cancel before it, otherwise the run
   * starts again. Without `perform`, `close` still ends the processes of a dead engine that no engine will adopt.
   */
  perform(): Promise<void>;
};

/** Another process holds the lock: this one may deliver signals but starts nothing. */
export type Observer = Opened & {
  readonly performedBy: string;
  /** Where the other process has another state folder and the same database: whether it has ended, so that this one may take over. */
  readonly isFree: HeldLock["isFree"];
};

export type PassrailOptions = Site & {
  readonly flags: SettingsFlags;
  readonly onError: EngineOptions["onError"];
  /** Whether workers can join this process. */
  readonly takesWorkers?: boolean;
  /** Whether an agent's question waits for an answer in place: for a process that stays, and that people reach while it works. */
  readonly answersInPlace?: boolean;
  /** Called with what happens around the engine, for a log: a worker joins or is gone. */
  readonly onNotice?: (line: string) => void;
  /** "ignore": opens an unapproved project without its files, to stop runs; do not perform then. */
  readonly unapproved?: "refuse" | "ignore";
  /** The store is a file in the state folder, whatever database the user has named: for demonstrations. */
  readonly embedded?: boolean;
  /** Instead of the notifier that the settings describe. */
  readonly notifier?: Notifier;
  /** Instead of the system's; tests move it. */
  readonly clock?: Clock;
};

const CATCH_UP_MS = 200;

export async function openPassrail(options: PassrailOptions): Promise<Result<Passrail>> {
  const unusable = stateFolderProblem(options.home);
  if (unusable !== undefined) return err(unusable);
  mkdirSync(options.home, { recursive: true, mode: 0o700 });
  const home = realpathSync(options.home);
  const { project, unapproved = "refuse" } = options;
  const database = options.embedded === true ? ok(null) : await databaseOf(options.environment);
  if (!database.ok) return database;
  const passedOn = withoutDatabase(options.environment);
  const environment = projectEnvironment({ home, project, environment: passedOn }, unapproved);
  if (!environment.ok) return environment;
  const site: Site = { home, project, environment: environment.value };
  const config = await loadSettings({ ...site, flags: options.flags, unapproved });
  if (!config.ok) return config;
  const { statusMirror } = config.value;
  const table = statusMirror === null ? ok(null) : openStatusTable(statusMirror, site.environment);
  if (!table.ok) return table;
  // The lock comes first: it decides which parts are opened.
  const place = { home, database: database.value };
  const lock = await takePerformerLock(place);
  try {
    const store = await openStore(place, { owner: lock.type === "taken" });
    const { clock = systemClock } = options;
    const opened = {
      ...options,
      ...site,
      clock,
      config: config.value,
      store,
      address: { url: "", publicUrl: null },
      table: table.value,
    };
    const base: Base = { ...opened, budgets: budgetsOf({ ...opened, unapproved }) };
    return ok(lock.type === "taken" ? openPerformer(base, lock) : openObserver(base, lock));
  } catch (error) {
    await lock.release();
    throw error;
  }
}

function budgetsOf({ clock, config, onError, ...site }: Omit<Base, "budgets">): CurrentBudgets {
  return createCurrentBudgets({
    site,
    initial: config.budgets,
    monotonicMs: () => clock.monotonicMs(),
    onProblem: (text) => onError(null, new Error(text)),
  });
}

/** For callers that must perform: if another process holds the lock, closes Passrail and returns an error. */
export async function requirePerformer(passrail: Passrail): Promise<Result<Performer>> {
  if (passrail.performedBy === null) return ok(passrail);
  await passrail.close();
  return err(performedAlready(passrail.home, passrail.performedBy));
}

/** The parts of both kinds. */
type Base = PassrailOptions & {
  readonly clock: Clock;
  readonly config: Settings;
  readonly budgets: CurrentBudgets;
  readonly store: Store;
  /** Empty until something listens. */
  readonly address: { url: string; publicUrl: string | null };
  /** Where a status mirror writes; null without one. */
  readonly table: StatusTable | null;
};

function openObserver(base: Base, lock: HeldLock): Observer {
  const { engine, listeners, redact, closeRunners } = openEngine(base, base.notifier ?? null);
  return {
    ...openedOf(base, engine, listeners),
    redact,
    performedBy: lock.heldBy,
    isFree: lock.isFree,
    async close() {
      await engine.close();
      await closeRunners();
      base.store.close();
      await lock.release();
    },
  };
}

function openPerformer(base: Base, lock: TakenLock): Performer {
  const { address, clock, environment, home, onError, store } = base;
  const notifications = base.notifier === undefined ? notificationsOf(base) : null;
  const opened = openEngine(base, base.notifier ?? notifications?.notifier ?? null);
  const { board, carriers, engine, landing, listeners, redact, closeRunners } = opened;
  const mirror = createMirror({
    store,
    deliver: (...signal) => engine.deliver(...signal),
    folderOf: (project) => openProjectFolder({ home, project, environment }),
    logFile: join(home, "tickets.jsonl"),
    onProblem: onError,
  });
  const hooks = createHookCommands({ onProblem: (text) => onError(null, new Error(text)) });
  const stageLogs = createStageLogs({ home, store, redact, onError });
  if (notifications !== null) listeners.add(notifications);
  listeners.add(hookListener(base, redact, hooks));
  listeners.add(mirror);
  listeners.add(stageLogs);
  const fenced = Promise.withResolvers<StoreError>();
  const common = openedOf(base, engine, listeners);
  let performing: Performing | null = null;
  return {
    ...common,
    redact,
    performedBy: null,
    mirror,
    access: createLandingAccess({ home, environment, nowMs: () => clock.monotonicMs() }),
    refused: createRefusedBoard(base),
    notifications,
    fenced: fenced.promise,
    node: { board, bundleFor: (...wanted) => carriers.bundleFor(...wanted) },
    isCarried: (carrier, place) => carriers.isAtWork(carrier, place),
    setUrl: (url, publicUrl = null) => void Object.assign(address, { url, publicUrl }),
    wakeMerges: () => performing?.merges.wake(),
    async perform() {
      await mirror.start();
      await common.app.finishPause();
      await engine.perform();
      board.ready();
      engine.wake();
      void stageLogs.catchUp().catch((error: unknown) => onError(null, error));
      performing = {
        merges: landing.watch(engine),
        approvals: openApprovalWatch({ place: base, store, app: common.app, onProblem: onError }),
        timer: keepCatchingUp(engine, onError, fenced.resolve),
        heartbeat: beginHeartbeat(base, engine, listeners),
        dayBudgets: beginDayBudgets(base, engine, listeners),
        statusMirror: beginStatusMirror(base, listeners),
      };
    },
    async close(how) {
      clearInterval(performing?.timer);
      await performing?.heartbeat.close();
      await performing?.dayBudgets.close();
      await performing?.merges.close();
      await performing?.approvals.close();
      await engine.close(how);
      await performing?.statusMirror?.close();
      if (performing === null) await endLeftovers({ store, storeId: storeMark(home), carriers, processes });
      await mirror.close();
      await stageLogs.close();
      await hooks.close();
      await notifications?.close();
      await closeRunners();
      store.close();
      await lock.release();
    },
  };
}

type Performing = {
  readonly merges: MergeWatch;
  readonly approvals: ApprovalWatch;
  readonly timer: NodeJS.Timeout;
  readonly heartbeat: Heartbeat;
  readonly dayBudgets: DayBudgets;
  readonly statusMirror: StatusMirror | null;
};

function beginStatusMirror(
  { clock, config, home, onError, store, table }: Base,
  listeners: EngineListeners,
): StatusMirror | null {
  if (table === null) return null;
  const mirror = openStatusMirror({
    home,
    store,
    table,
    hasHandoffs: config.statusMirror?.handoffs !== null,
    now: () => clock.now(),
    onProblem: (text) => onError(null, new Error(text)),
  });
  listeners.add({ onChange: () => mirror.wake(), onElsewhere: () => mirror.wake() });
  return mirror;
}

function beginDayBudgets(
  { budgets, clock, onError, store }: Base,
  engine: Engine,
  listeners: EngineListeners,
): DayBudgets {
  const dayBudgets = openDayBudgets({ store, engine, clock, budgets: () => budgets.now(), onError });
  listeners.add(dayBudgets);
  return dayBudgets;
}

function beginHeartbeat(
  { clock, config, onError, store }: Base,
  engine: Engine,
  listeners: EngineListeners,
): Heartbeat {
  const heartbeat = openHeartbeat({ store, engine, clock, ...config.heartbeat, onError });
  listeners.add(heartbeat);
  return heartbeat;
}

/** Passes what happens in agents' sessions on to the programs of the setting `hooks`. */
function hookListener(
  { clock, config }: Base,
  redact: (text: string) => string,
  commands: HookCommands,
): EngineListener {
  return {
    onAgentEvent(attempt, event) {
      const found = hookEvent(attempt, event, clock.now());
      const programs = found === undefined ? [] : config.hooks[found.hook];
      if (found === undefined || programs.length === 0) return;
      const entries = Object.entries(found.payload).map(([key, value]) => [
        key,
        typeof value === "string" ? redact(value) : value,
      ]);
      const payload = Object.fromEntries(entries) as HookEvent["payload"];
      for (const argv of programs) commands.add({ argv, cwd: projectOf(attempt.run), payload });
    },
  };
}

function openedOf(base: Base, engine: Engine, listeners: EngineListeners): Omit<Opened, "close" | "redact"> {
  const { budgets, clock, config, environment, home, project, store } = base;
  return {
    home,
    project,
    environment,
    clock,
    config,
    budgets,
    store,
    engine,
    app: openUseCases({ ...base, engine }),
    person: `human:${userInfo().username}`,
    listen: (listener) => listeners.add(listener),
  };
}

type OpenedEngine = {
  readonly engine: Engine;
  readonly listeners: EngineListeners;
  readonly landing: LandingDeps;
  readonly board: WorkerBoard;
  readonly carriers: WorkerCarriers;
  readonly redact: (text: string) => string;
  readonly closeRunners: () => Promise<void>;
};

const processes = { killLeftovers, findMarked, watchStrays, sweep: sweepCgroups };

function openEngine(base: Base, notifier: Notifier | null): OpenedEngine {
  const { address, clock, config, environment, home, onError, store } = base;
  const runners = openRunners(environment, config);
  const listeners = createListeners();
  const landing = landingOf(base, runners);
  const workspaces = createWorkspaces({ home, settings: config.workspaces, environment });
  const onCarrierError = (error: unknown): void => onError(null, error);
  const incarnation = (): string => store.incarnation();
  const local = createCarriers({
    home,
    environment,
    settings: config,
    process: config.attemptProcess.value,
    incarnation,
    onError: onCarrierError,
  });
  const board = boardOf(base, () => engine.wake());
  const copies = copiesOf(base, workspaces);
  const carriers = withWorkers({
    local,
    board,
    home,
    incarnation,
    workspaces,
    settings: config.workspaces,
    keep: async (...at) => copies?.keep(...at),
    onError: onCarrierError,
  });
  const engine = createEngine({
    store,
    clock,
    slots: config.slots.value,
    agentLimits: config.agentLimits,
    labels: config.workers.labels,
    // Workers join a daemon; other processes perform only for a moment, and leave to it what is for workers.
    places: base.takesWorkers === true ? board : onlyHere(config.workers.place === "workers-only"),
    answersInPlace: base.answersInPlace === true,
    accountOf: (runner) => accountOf(environment, config, runner),
    nearPercent: config.limitNear.value,
    runStage,
    carriers,
    ...optional({ copies }),
    runners,
    builtins: {
      ...builtins,
      join: joinTracks,
      "write-tickets": createWriteTickets((project) => openProjectFolder({ home, project, environment })),
      land: landing.land,
    },
    metered: (resolved, run, stage) =>
      runnerLadder(resolved, run.facts, stage).flatMap((choice) => meteredBy(choice) ?? []),
    budgets: () => base.budgets.now(),
    processes,
    workspaces,
    keepWorkspaces: config.workspaces.keep === true,
    notifier,
    home,
    storeId: storeMark(home),
    newId: () => randomUUID().replaceAll("-", ""),
    url: () => address.url,
    readYaml: readYamlList,
    onChange: listeners.onChange,
    onElsewhere: listeners.onElsewhere,
    onAgentEvent: listeners.onAgentEvent,
    onUsage: listeners.onUsage,
    beforeWork: listeners.beforeWork,
    beforeOutward: listeners.beforeOutward,
    withdrawnTrust: (run) => withdrawnTrust(base, run),
    settleOutward: (run, see) => landing.settle(run, see),
    afterOutward: listeners.afterOutward,
    onError,
  });
  const closeRunners = async (): Promise<void> => {
    board.close();
    carriers.close();
    await runners.desk.close();
  };
  return { engine, listeners, landing, board, carriers, redact: runners.redact, closeRunners };
}

/** Undefined where the state folder has everything. */
function copiesOf({ home, onError, store }: Base, workspaces: EngineOptions["workspaces"]): RunCopies | undefined {
  const { nodes: share } = store;
  if (share === null) return undefined;
  return createRunCopies({ home, node: nodeId(home), share, store, workspaces, onProblem: onError });
}

function boardOf({ home, config, clock, onNotice }: Base, onFree: () => void): WorkerBoard {
  return createBoard({
    home,
    ...config.workers,
    nowMs: () => clock.monotonicMs(),
    now: () => clock.now(),
    onFree,
    log: (line) => onNotice?.(line),
  });
}

function landingOf(base: Base, runners: Runners): LandingDeps {
  const { address, clock, config, environment, home, onError, store } = base;
  return openLanding({
    home,
    store,
    clock,
    environment,
    settings: { ...config.merge, mode: config.merge.mode.value },
    ticketsFolder: config.tickets.folder,
    folderOf: (project) => openProjectFolder({ home, project, environment }),
    runners,
    redact: runners.redact,
    url: () => address.publicUrl ?? address.url,
    withdrawnTrust: (run) => withdrawnTrust(base, run),
    onProblem: onError,
  });
}

/** The delivery log has one writer, so only the process that performs opens it. */
function notificationsOf({
  address,
  clock,
  config,
  environment,
  flags,
  home,
  onError,
  store,
}: Base): Notifications | null {
  const onProblem = (text: string): void => onError(null, new Error(text));
  const settings = createUserSettings({ environment, flags, initial: config, onProblem });
  return openNotifications({
    config,
    settings,
    environment,
    home,
    store,
    url: () => address.publicUrl ?? address.url,
    onProblem,
    with: { now: () => Date.parse(clock.now()) },
  });
}

/** Other processes write to the store too, such as commands beside a daemon. */
function keepCatchingUp(
  engine: Engine,
  onError: PassrailOptions["onError"],
  onFenced: (error: StoreError) => void,
): NodeJS.Timeout {
  const catchUp = (): void => void engine.catchUp().catch(failed);
  const timer = setInterval(catchUp, CATCH_UP_MS).unref();
  return timer;

  function failed(error: unknown): void {
    onError(null, error);
    if (!(error instanceof StoreError) || error.code !== "store_fenced") return;
    clearInterval(timer);
    // The process that has the store now adopts what works on.
    void engine.close("leave").finally(() => onFenced(error));
  }
}

function performedAlready(home: string, heldBy: string): Problem {
  return {
    code: "already_performed",
    message: `Another process works on ${home}: ${heldBy}.`,
    hint: "passrail status   shows it; passrail down   stops a daemon",
  };
}
