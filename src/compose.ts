// Builds the object graph: the only file that knows every adapter. Everything a program needs to act on a store comes from here.
// What only acting needs is loaded when something acts: looking at a store must not wait for schemas, YAML and workspaces.

import { randomUUID } from "node:crypto";
import { mkdirSync, realpathSync } from "node:fs";
import { userInfo } from "node:os";
import { join } from "node:path";
import type { Settings } from "./settings/settings.ts";
import type { UseCases } from "./app/use-cases.ts";
import type { RunnerName } from "./core/flow/agent-options.ts";
import type { Metered } from "./core/budget/budget.ts";
import type { Actor } from "./core/run/event.ts";
import type { Play } from "./core/flow/runner-choice.ts";
import { err, ok, type Problem, type Result } from "./core/result.ts";
import type { Mirror } from "./ticket/mirror/mirror.ts";
import type { Engine } from "./engine/engine.ts";
import type { EngineOptions } from "./engine/options.ts";
import type { Notifier } from "./notify/notify.ts";
import { type Environment, type Site, storeFile } from "./settings/site.ts";
import { loadSettings } from "./settings/load.ts";
import { openSqliteStore } from "./store/sqlite/open.ts";
import type { Store } from "./store/store.ts";
import type { TicketFolder } from "./ticket/file/folder.ts";
import type { MergeWatch } from "./ticket/land/watch.ts";
import type { Notifications } from "./notify/open.ts";

export type Passrail = Site & {
  readonly config: Settings;
  readonly store: Store;
  readonly engine: Engine;
  /** The use cases: every door starts, answers and controls runs through them. */
  readonly app: UseCases;
  /** Keeps tickets' files and their runs equal; null where another process performs. */
  readonly mirror: Mirror | null;
  /** Who acts, for the record. */
  readonly person: Actor;
  /** Set when another process performs: this one may deliver signals but starts nothing. */
  readonly performedBy: string | null;
  close(): Promise<void>;
};

export type OpenOptions = Site & {
  readonly flags: { readonly slots?: string; readonly workspace?: string };
  readonly onChange?: EngineOptions["onChange"];
  readonly onError: EngineOptions["onError"];
  readonly notifier?: Notifier;
  /** What shall happen before anything is performed: a run that is to be canceled must not start once more. False: perform nothing. */
  readonly first?: (act: Acting) => Promise<boolean>;
  /** Where agents reach the API, once something listens. */
  readonly url?: () => string;
  /** Refuse where another process performs; nothing is opened then. */
  readonly alone?: boolean;
};

/** What can be acted with before anything is performed. */
export type Acting = Pick<Passrail, "app" | "config" | "engine" | "home" | "mirror" | "person" | "store"> & {
  /** Null where nobody is told, or where another process performs. */
  readonly notifications: Notifications | null;
  /** Somebody says that something happened to a pull request: the forge is asked now. */
  readonly wakeMerges: () => void;
};

type ReadYaml = typeof import("./file/yaml.ts").readYaml;

const CATCH_UP_MS = 200;

/** Opens the store and an engine on it; performs when nobody else does. */
export async function openPassrail(options: OpenOptions): Promise<Result<Passrail>> {
  const parts = await import("./parts.ts");
  const environment = parts.withProjectKeys(options.environment, options.project);
  mkdirSync(options.home, { recursive: true, mode: 0o700 });
  const home = realpathSync(options.home);
  const config = await loadSettings({ ...options, environment });
  if (!config.ok) return config;
  const { findMarked, killLeftovers, readYaml, storeMark } = parts;
  // The lock comes first: whoever performs must be known before anything is opened for work.
  const lock = parts.takeEngineLock(home);
  const performs = "release" in lock;
  if (!performs && options.alone === true) return err(performedAlready(home, lock.heldBy));
  const store = openSqliteStore({ file: storeFile(home) });
  const players = parts.openPlayers(environment, config.value);
  const url = (): string => options.url?.() ?? "";
  const onProblem = (text: string): void => options.onError(null, new Error(text));
  // The log of what was sent has one writer, and whoever does not perform tells nobody.
  const notifications =
    performs && options.notifier === undefined
      ? parts.openNotifications({ config: config.value, environment, home, store, url, onProblem })
      : null;
  // Tickets' files have one writer too.
  const mirror = performs
    ? parts.createMirror({
        store,
        deliver: (...told) => engine.deliver(...told),
        folderOf: (project) => ticketFolder(parts.openTicketFolder, project, environment),
        logFile: join(home, "tickets.jsonl"),
        onProblem: options.onError,
      })
    : null;
  const stageLogs = performs ? parts.createStageLogs({ home, store, onError: options.onError }) : null;
  const landing = parts.openLanding({
    home,
    store,
    environment,
    settings: { ...config.value.merge, mode: config.value.merge.mode.value },
    ticketsFolder: config.value.tickets.folder,
    folderOf: (project) => ticketFolder(parts.openTicketFolder, project, environment),
    checkEnvironment: parts.childEnvironment(environment, {}, config.value.passEnvironment),
    redact: players.redact,
    url,
    onProblem: options.onError,
  });
  let merges: MergeWatch | null = null;
  const engine: Engine = parts.createEngine({
    store,
    clock: parts.systemClock,
    slots: config.value.slots.value,
    agentLimits: config.value.agentLimits,
    runStage: parts.runStage,
    players,
    builtins: {
      ...parts.builtins,
      "write-tickets": parts.createWriteTickets((project) =>
        ticketFolder(parts.openTicketFolder, project, environment),
      ),
      land: landing.land,
    },
    metered: (resolved, run, stage) => meteredBy(parts.playOf(resolved, run.facts, stage)),
    budgets: () => config.value.budgets,
    processes: { killLeftovers, findMarked },
    workspaces: parts.createWorkspaces({ home, settings: config.value.workspaces, environment }),
    keepWorkspaces: config.value.workspaces.keep === true,
    notifier: options.notifier ?? notifications?.notifier ?? null,
    home,
    storeId: storeMark(home),
    newId: () => randomUUID().replaceAll("-", ""),
    get url() {
      return url();
    },
    readYaml: (text) => readYamlList(readYaml, text),
    onChange(run, events) {
      notifications?.onChange(run, events);
      mirror?.onChange(run, events);
      stageLogs?.onChange(run, events);
      options.onChange?.(run, events);
    },
    onElsewhere: (run) => mirror?.onElsewhere(run),
    beforeWork: async (run) => mirror?.beforeWork(run),
    onError: options.onError,
  });
  const person: Actor = `human:${userInfo().username}`;
  let timer: NodeJS.Timeout | undefined;
  const wakeMerges = (): void => void merges?.wake();
  const place = { project: options.project, settings: () => loadSettings({ ...options, environment }) };
  const app = parts.createUseCases({
    engine,
    store,
    now: () => parts.systemClock.now(),
    commitOf: parts.createCommitOf(store),
    planRun: (request) => parts.planRun(place, request),
  });
  const acting: Acting = { wakeMerges, app, config: config.value, engine, home, mirror, notifications, person, store };
  const wanted = (await options.first?.(acting)) ?? true;
  if (performs && !wanted) {
    // Nobody performs now, so whatever still carries this store's mark was left by an engine that died.
    for (const { marker } of findMarked(`${storeMark(home)}/`)) await killLeftovers({ marker });
  } else if (performs) {
    await mirror?.start();
    await engine.perform();
    void stageLogs?.catchUp().catch((error: unknown) => options.onError(null, error));
    timer = setInterval(
      () => void engine.catchUp().catch((error: unknown) => options.onError(null, error)),
      CATCH_UP_MS,
    );
    timer.unref();
    merges = landing.watch(engine);
  }
  return ok({
    home,
    project: options.project,
    environment,
    config: config.value,
    store,
    engine,
    app,
    mirror,
    person,
    performedBy: "heldBy" in lock ? lock.heldBy : null,
    async close() {
      clearInterval(timer);
      await merges?.close();
      await engine.close();
      await mirror?.close();
      await stageLogs?.close();
      await notifications?.close();
      await players.desk.close();
      store.close();
      if ("release" in lock) lock.release();
    },
  });
}

/** The project's folder of tickets, by the project's own settings. */
async function ticketFolder(
  open: typeof import("./ticket/file/open-folder.ts").openTicketFolder,
  project: string,
  environment: Environment,
): Promise<TicketFolder> {
  const config = await loadSettings({ environment, project, flags: {} });
  if (!config.ok) throw new Error(config.error.message);
  return open({ project, settings: config.value.tickets });
}

function performedAlready(home: string, heldBy: string): Problem {
  return {
    code: "already_performed",
    message: `Another process works on ${home}: ${heldBy}.`,
    hint: "passrail status   shows it; passrail down   stops a daemon",
  };
}

/** What is put aside for an attempt as long as little is known of its agent. Dollars only where the runner tells them afterwards. */
const RESERVED_USD: Readonly<Partial<Record<RunnerName, number>>> = { claude: 1, opencode: 1 };
const RESERVED_TOKENS = 1_000_000;

function meteredBy(play: Play | undefined): Metered | null {
  if (play === undefined || play.runner === "command" || play.runner === "outside") return null;
  const usd = RESERVED_USD[play.runner] ?? 0;
  return {
    runner: play.runner,
    model: play.options.model ?? null,
    reserveUsd: usd === 0 ? 0 : (play.options.maxCostUsd ?? usd),
    reserveTokens: RESERVED_TOKENS,
  };
}

/** A list at the top of an agent's text; indented below a key, because documents of ours are mappings. */
function readYamlList(readYaml: ReadYaml, text: string): Result<unknown> {
  const indented = text.split("\n").map((line) => `  ${line}`);
  const read = readYaml(`list:\n${indented.join("\n")}\n`, { file: "tickets", subject: "tickets" });
  return read.ok ? ok(read.value.value["list"]) : err(firstOf(read.error, "the list of tickets"));
}

function firstOf(problems: readonly Problem[], path: string): Problem {
  return problems[0] ?? { code: "yaml_syntax", message: `${path} cannot be read` };
}
