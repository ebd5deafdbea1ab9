// Settings and their sources: flag, then environment, then the project's passrail.yaml, then the user's file, then the default.
// Each value keeps its origin, so that Passrail can show which one won.

import { z } from "zod";
import { agentOptionKeys, type RunnerName, type WrittenOptions } from "../core/flow/agent-options.ts";
import { NEAR_PERCENT } from "../core/run/limit-use.ts";
import { readLadder } from "../core/flow/ladder.ts";
import { LADDER_RUNNERS, PROGRAMS, RUNNERS, USER_FEATURES, type UserFeature } from "../core/flow/runner-names.ts";
import { storedOptions } from "../core/flow/stored-options.ts";
import { checkDefinitions } from "../core/flow/check-definitions.ts";
import { checksKey } from "../core/flow/check-file.ts";
import type { CheckDefinition } from "../core/flow/check-result.ts";
import type { Budgets } from "../core/budget/budget.ts";
import { err, ok, type Problem, type Result } from "../core/result.ts";
import { ATTEMPT_PROCESSES, type AttemptProcess, attemptsSchema } from "./attempts.ts";
import { GATEWAY_MODES, gatewaySchema, type GatewayMode, type GatewaySettings, gatewaySettings } from "./gateway.ts";
import { type HeartbeatSettings, heartbeatSchema, heartbeatSettings } from "./heartbeat.ts";
import { hooksSchema, type HookSettings, hookSettings } from "./hooks.ts";
import { settingsDuration } from "./duration.ts";
import { type FlowSettings, flowSettings, flowsSchema } from "./flows.ts";
import { type LimitSettings, limitSettings, limitsSchema } from "./limits.ts";
import {
  type MergeMode,
  MERGE_MODES,
  mergeSchema,
  type MergeSettings,
  mergeSettings,
  unknownMergeCheck,
} from "./merge.ts";
import type { RetentionRules } from "../core/retention/retention.ts";
import { readPublicUrl } from "./public-url.ts";
import { retentionRules, retentionSchema } from "./retention.ts";
import { statusMirrorOf, statusMirrorSchema, type StatusMirrorSettings } from "./status-mirror.ts";
import { ticketsSchema, type TicketSettings, ticketSettings } from "./tickets.ts";
import { type TrackerSettings, trackersSchema } from "./trackers.ts";
import { type TriggerSettings, triggersSchema } from "./triggers.ts";
import { type EndpointSettings, endpointsSchema, type SourceSettings, webhooksSchema } from "./webhooks.ts";
import { type WorkerSettings, workerSettings, workersSchema } from "./workers.ts";
import { workspacesSchema, type WorkspaceSettings, workspaceSettings } from "./workspaces.ts";
import { isSafeGlob } from "../core/glob.ts";
import { ENCLOSURE_CHOICES, type EnclosureChoice } from "../core/flow/enclosure.ts";
import { ROUTER_FALLBACKS, type RouterFallback } from "../core/flow/router-fallback.ts";
import { WORKSPACE_MODES, type WorkspaceMode } from "../core/flow/workspace-mode.ts";
import { optional } from "../core/optional.ts";

const command = z.array(z.string().min(1)).min(1);

const agent = z.strictObject({
  ...agentOptionKeys,
  model: z.string().min(1).max(100).optional(),
  max_turns: z.int().min(1).max(10_000).optional(),
  command: command.optional(),
  limit: z.int().min(1).max(100).optional(),
});

const variable = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/);

const program = z.strictObject({
  command: command.optional(),
  /** Set in the environment of this runner's programs. */
  env: z.record(variable, z.string()).optional(),
  /** Passed on from Passrail's environment. */
  pass: z.array(variable).optional(),
  /** A flow's name for a model -> the vendor's. */
  models: z.record(z.string(), z.string().min(1).max(100)).optional(),
  /** The parts of the user's own set-up of the program that agents get. From the user's file only. */
  user_features: z.array(z.enum(USER_FEATURES)).max(USER_FEATURES.length).optional(),
});

const limit = z.union([
  z.literal("none"),
  z.strictObject({
    usd: z.union([z.literal("none"), z.number().positive().max(1_000_000)]).optional(),
    tokens: z.union([z.literal("none"), z.int().positive().max(1_000_000_000_000)]).optional(),
  }),
]);

const testFilesSchema = z
  .array(z.string().min(1).max(200).refine(isSafeGlob, { message: "a glob below the project, such as spec/**" }))
  .min(1)
  .max(100);

export const fileSchema = z.strictObject({
  slots: z.int().min(1).max(100).optional(),
  workspace: z.enum(WORKSPACE_MODES).optional(),
  workspaces: workspacesSchema.optional(),
  tickets: ticketsSchema.optional(),
  merge: mergeSchema.optional(),
  checks: checksKey(settingsDuration).optional(),
  check_cache: z.enum(["on", "off"]).optional(),
  memo: z.enum(["on", "off"]).optional(),
  triggers: triggersSchema.optional(),
  verdict_repair: z.boolean().optional(),
  /** A list is a ladder; a rung may name its model: `codex:gpt-5.5`. */
  runner: z
    .union([
      z.enum(RUNNERS).exclude(["acp", "command"]),
      z
        .array(z.string().min(1).max(120))
        .min(2)
        .max(8)
        .refine((rungs) => readLadder(rungs.join(",")) !== undefined, {
          message: `each a runner, perhaps with its model: ${LADDER_RUNNERS.join(", ")}, codex:gpt-5.5`,
        }),
    ])
    .optional(),
  model: z.string().min(1).max(100).optional(),
  repository_settings: z.enum(["on", "off"]).optional(),
  agents: z.record(z.string(), agent).optional(),
  runners: z
    .partialRecord(z.enum(PROGRAMS), program)
    .refine(
      (runners) =>
        Object.entries(runners).every(
          ([name, program]) => LADDER_RUNNERS.some((each) => each === name) || program.user_features === undefined,
        ),
      {
        message: `user_features is a choice for ${LADDER_RUNNERS.join(", ")}; Passrail does not know what other programs have`,
      },
    )
    .optional(),
  budgets: z.strictObject({ run: limit.optional(), ticket: limit.optional(), day: limit.optional() }).optional(),
  environment: z.strictObject({ pass: z.array(variable).optional() }).optional(),
  daemon: z.strictObject({ port: z.int().min(0).max(65_535).optional() }).optional(),
  notify: z.strictObject({ command: command.optional(), endpoints: endpointsSchema.optional() }).optional(),
  webhooks: webhooksSchema.optional(),
  /** The address of a Postgres that holds the store instead of a file. From the user's file only; database.ts reads it. */
  database: z.string().min(1).max(2000).optional(),
  /** Files with rules for agents, relative to the project; bundles contain them. */
  standards: z.array(z.string().min(1).max(500)).max(20).optional(),
  /** Globs of the files that a tester may change, instead of the usual ones. */
  test_files: testFilesSchema.optional(),
  repositories: z.array(z.string().min(1).max(500)).max(20).optional(),
  hooks: hooksSchema.optional(),
  heartbeat: heartbeatSchema.optional(),
  limits: limitsSchema.optional(),
  flows: flowsSchema.optional(),
  attempts: attemptsSchema.optional(),
  gateway: gatewaySchema.optional(),
  workers: workersSchema.optional(),
  /** How long files and runs are kept. From the user's file only. */
  retention: retentionSchema.optional(),
  /** A database elsewhere that gets the status of every feature. From the user's file only. */
  status_mirror: statusMirrorSchema.optional(),
  trackers: trackersSchema.optional(),
  /** Where other machines reach the daemon. From the user's file only. */
  public_url: z
    .string()
    .max(300)
    .refine((text) => readPublicUrl(text) !== undefined, { message: "expected https://name or https://name:port" })
    .optional(),
  router: z.strictObject({ fallback: z.enum(ROUTER_FALLBACKS).optional() }).optional(),
});

export type SettingsFile = z.infer<typeof fileSchema>;
export type SettingOrigin = "flag" | "environment" | "project" | "user" | "default";
export type Setting<T> = { readonly value: T; readonly from: SettingOrigin };

export type Settings = {
  readonly slots: Setting<number>;
  readonly workspace: Setting<WorkspaceMode | "by-flow">;
  readonly workspaces: WorkspaceSettings;
  readonly tickets: TicketSettings;
  readonly merge: Omit<MergeSettings, "mode"> & { readonly mode: Setting<MergeMode> };
  /** Programs that Passrail runs on finished work, by name. */
  readonly checks: Readonly<Record<string, CheckDefinition>>;
  /** Whether the result of a check counts for every later one on the same tree. */
  readonly checkCache: Setting<boolean>;
  /** Whether stages whose flow says `memo` reuse earlier results. */
  readonly memo: Setting<boolean>;
  /** Which attempts run in a process of their own, and so outlive the engine. */
  readonly attemptProcess: Setting<AttemptProcess>;
  /** How the processes of an attempt without a sandbox are held together. */
  readonly enclosure: Setting<EnclosureChoice>;
  /** Percent of a vendor's limit from which on new attempts of its runner start one at a time. */
  readonly limitNear: Setting<number>;
  /** Whether agents ask their models through a gateway, and which other hosts they reach. */
  readonly gateway: GatewaySettings & { readonly from: SettingOrigin };
  readonly triggers: readonly TriggerSettings[];
  readonly verdictRepair: Setting<boolean>;
  /** The runner of agents that have no other setting. */
  readonly runner: Setting<NonNullable<WrittenOptions["runner"]> | "none">;
  readonly model: string | null;
  /** The daemon's port on loopback. */
  readonly port: Setting<number>;
  /** Whether hooks, MCP servers and settings that a repository brings for agents' programs take effect. */
  readonly repositorySettings: Setting<boolean>;
  /** How an agent or a stage is played, from the files. */
  readonly agents: Readonly<Record<string, WrittenOptions>>;
  readonly programs: Readonly<Partial<Record<RunnerName, RunnerProgram>>>;
  readonly budgets: Budgets;
  readonly agentLimits: Readonly<Record<string, number>>;
  /** Additional environment variables that agents may see. */
  readonly passEnvironment: readonly string[];
  readonly notifyCommand: readonly string[] | null;
  /** Endpoints for notices, and the senders of webhooks. From the user's file only. */
  readonly notifyEndpoints: readonly EndpointSettings[];
  readonly webhooks: Readonly<Record<string, SourceSettings>>;
  /** Files with rules for agents, relative to the project. */
  readonly standards: readonly string[];
  /** Globs of the project's tests; null: the usual ones. */
  readonly testFiles: readonly string[] | null;
  /** Folders of the project that are repositories of their own, and part of the work of flows that check them. */
  readonly repositories: readonly string[];
  /** Programs that run when something happens in an agent's session. */
  readonly hooks: HookSettings;
  readonly heartbeat: HeartbeatSettings;
  /** When attempts go to workers on other machines. */
  readonly workers: WorkerSettings;
  /** How long attempts may take, by stage; `*` for all. */
  readonly limits: LimitSettings;
  /** Limits that win over those of a flow's file, by its name. */
  readonly flows: FlowSettings;
  readonly retention: RetentionRules;
  /** Null: none. */
  readonly statusMirror: StatusMirrorSettings | null;
  readonly trackers: readonly TrackerSettings[];
  /** The origin at which other machines reach the daemon; null: none. */
  readonly publicUrl: string | null;
  /** When keyword rules choose instead of a router's model; null: as the flow says. */
  readonly routerFallback: RouterFallback | null;
  /** The nearest file that has a key inside a group, such as `tickets.folder`. */
  readonly writtenKeys: Readonly<Record<string, "project" | "user">>;
  /** The files that have these keys, for settings that only files have; both if they are merged. */
  readonly written: Readonly<Partial<Record<keyof SettingsFile, "project" | "user" | "project and user">>>;
};

const DEFAULT_PORT = 7377;

/** On by default: Passrail notices a runaway agent before it is expensive. Tokens include those read from caches. */
const DEFAULT_BUDGETS: Budgets = {
  run: { usd: 25, tokens: 50_000_000 },
  ticket: { usd: 50, tokens: 100_000_000 },
  day: { usd: 100, tokens: 500_000_000 },
};

/** The path of a runner's program and its extra environment. */
export type RunnerProgram = {
  readonly command?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly pass: readonly string[];
  readonly models: Readonly<Record<string, string>>;
  /** The parts of the user's own set-up of the program that its agents get; absent: the program's default. */
  readonly userFeatures?: readonly UserFeature[];
};

export type SettingsSources = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Parsed YAML of passrail.yaml and of the user's file; undefined if missing. */
  readonly project: unknown;
  readonly user: unknown;
  readonly flags: {
    readonly slots?: string;
    readonly workspace?: string;
    readonly checkCache?: string;
    readonly memo?: string;
  };
};

type ReadFile = { readonly from: "project" | "user"; readonly file: SettingsFile };

/** A value that a flag or the environment can override, in the order flag, environment, project, user, default. */
type Choice<T> = {
  readonly name: string;
  readonly flag?: string | undefined;
  readonly variable?: string | undefined;
  readonly inFile: (file: SettingsFile) => string | undefined;
  readonly otherwise: string;
  readonly parse: (text: string) => T | undefined;
  /** Completes the sentence `"x" is not …`. */
  readonly expected: string;
};

export function readSettings({ environment, project, user, flags }: SettingsSources): Result<Settings> {
  const read = readFiles(project, user);
  if (!read.ok) return read;
  const files = read.value;
  const choices = readChoices(files, environment, flags);
  if (!choices.ok) return choices;
  const { mergeMode, gatewayMode, ...chosen } = choices.value;
  const all = files.map(({ file }) => file);
  const agents = Object.fromEntries(all.toReversed().flatMap((file) => Object.entries(file.agents ?? {})));
  const checks: Settings["checks"] = Object.assign(
    {},
    ...all.toReversed().map((file) => checkDefinitions(file.checks)),
  );
  const merges = all.map((file) => file.merge);
  const lost = unknownMergeCheck(merges, checks);
  if (lost !== undefined) return err(wrong("merge.checks", `there is no check "${lost}"; define it under checks`));
  return ok({
    ...chosen,
    workspaces: workspaceSettings(all.map((file) => file.workspaces)),
    tickets: ticketSettings(all.map((file) => file.tickets)),
    merge: { ...mergeSettings(merges, checks), mode: mergeMode },
    checks,
    gateway: {
      ...gatewaySettings(
        all.map((file) => file.gateway),
        gatewayMode.value,
      ),
      from: gatewayMode.from,
    },
    triggers: all.flatMap((file) => file.triggers ?? []),
    model: all.map((file) => file.model).find((found) => found !== undefined) ?? null,
    agents: optionsOf(agents),
    programs: programsOf(all),
    budgets: budgetsOf(all),
    agentLimits: limitsOf(agents),
    passEnvironment: all.flatMap((file) => file.environment?.pass ?? []),
    standards: all.flatMap((file) => file.standards ?? []),
    testFiles: all.map((file) => file.test_files).find((found) => found !== undefined) ?? null,
    repositories: all.flatMap((file) => file.repositories ?? []),
    written: writtenIn(files),
    writtenKeys: writtenKeys(files),
    notifyCommand: all.map((file) => file.notify?.command).find((found) => found !== undefined) ?? null,
    notifyEndpoints: all.flatMap((file) => file.notify?.endpoints ?? []),
    hooks: hookSettings(all.map((file) => file.hooks)),
    routerFallback: all.map((file) => file.router?.fallback).find((found) => found !== undefined) ?? null,
    heartbeat: heartbeatSettings(all.map((file) => file.heartbeat)),
    workers: workerSettings(all.map((file) => file.workers)),
    limits: limitSettings(all.map((file) => file.limits)),
    flows: flowSettings(all.map((file) => file.flows)),
    retention: retentionRules(all.map((file) => file.retention).find((found) => found !== undefined)),
    trackers: all.flatMap((file) => file.trackers ?? []),
    statusMirror: statusMirrorOf(all.map((file) => file.status_mirror).find((found) => found !== undefined)),
    publicUrl:
      all.flatMap((file) => (file.public_url === undefined ? [] : (readPublicUrl(file.public_url) ?? [])))[0] ?? null,
    webhooks: Object.fromEntries(all.flatMap((file) => Object.entries(file.webhooks ?? {}))),
  });
}

function readFiles(project: unknown, user: unknown): Result<readonly ReadFile[]> {
  const files: ReadFile[] = [];
  for (const [from, value] of [
    ["project", project],
    ["user", user],
  ] as const) {
    if (value === undefined || value === null) continue;
    const parsed = fileSchema.safeParse(value);
    if (!parsed.success)
      return err(wrong(from === "project" ? "passrail.yaml" : "the user's settings", issuesText(parsed.error)));
    const foreign = from === "project" ? foreignKey(parsed.data) : undefined;
    if (foreign !== undefined)
      return err(wrong("passrail.yaml", `${foreign} is not taken from a project; it belongs into the user's settings`));
    files.push({ from, file: parsed.data });
  }
  return ok(files);
}

const ISSUES_AT_MOST = 5;

/** `slots: expected number, received string`, the first few. */
function issuesText({ issues }: z.ZodError): string {
  const texts = issues.slice(0, ISSUES_AT_MOST).map(({ path, message }) => {
    const said = message.replace(/^Invalid input: /u, "");
    return path.length === 0 ? said : `${path.map(String).join(".")}: ${said}`;
  });
  const more = issues.length - texts.length;
  return [...texts, ...(more > 0 ? [`and ${more} more`] : [])].join("; ");
}

type Choices = Pick<
  Settings,
  | "slots"
  | "workspace"
  | "verdictRepair"
  | "port"
  | "limitNear"
  | "runner"
  | "repositorySettings"
  | "checkCache"
  | "memo"
  | "attemptProcess"
  | "enclosure"
> & {
  readonly mergeMode: Setting<MergeMode>;
  readonly gatewayMode: Setting<GatewayMode>;
};

function readChoices(
  files: readonly ReadFile[],
  environment: SettingsSources["environment"],
  flags: SettingsSources["flags"],
): Result<Choices> {
  const slots = choose(files, slotsChoice(flags.slots, environment["PASSRAIL_SLOTS"] ?? environment["MAX_WORKERS"]));
  if (!slots.ok) return slots;
  const workspace = choose(files, {
    name: "workspace",
    flag: flags.workspace,
    variable: environment["PASSRAIL_WORKSPACE"],
    inFile: (file) => file.workspace,
    otherwise: "by-flow",
    parse: oneOf<WorkspaceMode | "by-flow">(["by-flow", ...WORKSPACE_MODES]),
    expected: `one of ${WORKSPACE_MODES.join(", ")}`,
  });
  if (!workspace.ok) return workspace;
  const mergeMode = choose(files, {
    name: "merge.mode",
    variable: environment["MERGE_MODE"],
    inFile: (file) => file.merge?.mode,
    otherwise: "auto",
    parse: oneOf(MERGE_MODES),
    expected: `one of ${MERGE_MODES.join(", ")}`,
  });
  if (!mergeMode.ok) return mergeMode;
  const verdictRepair = choose(files, {
    name: "verdict_repair",
    variable: environment["PASSRAIL_VERDICT_REPAIR"],
    inFile: (file) => file.verdict_repair?.toString(),
    otherwise: "true",
    parse: (text) => ({ true: true, false: false })[text],
    expected: "true or false",
  });
  if (!verdictRepair.ok) return verdictRepair;
  const runner = choose(files, {
    name: "runner",
    variable: environment["PASSRAIL_RUNNER"],
    inFile: (file) => (Array.isArray(file.runner) ? file.runner.join(",") : file.runner),
    otherwise: "none",
    parse: (text): Settings["runner"]["value"] | undefined =>
      text === "none" || isRunner(text) ? text : readLadder(text),
    expected: `one of ${KNOWN_RUNNERS.join(", ")}, or a ladder such as claude,codex`,
  });
  if (!runner.ok) return runner;
  const repositorySettings = choose(files, {
    name: "repository_settings",
    variable: environment["PASSRAIL_REPOSITORY_SETTINGS"],
    inFile: (file) => file.repository_settings,
    otherwise: "off",
    parse: (text) => ({ on: true, off: false })[text],
    expected: "on or off",
  });
  if (!repositorySettings.ok) return repositorySettings;
  const checkCache = choose(files, cacheChoice("check_cache", flags.checkCache, environment["PASSRAIL_CHECK_CACHE"]));
  if (!checkCache.ok) return checkCache;
  const memo = choose(files, cacheChoice("memo", flags.memo, environment["PASSRAIL_MEMO"]));
  if (!memo.ok) return memo;
  const attempts = attemptChoices(files, environment);
  if (!attempts.ok) return attempts;
  const port = choose(files, portChoice(environment["PASSRAIL_PORT"]));
  if (!port.ok) return port;
  return ok({
    slots: slots.value,
    workspace: workspace.value,
    mergeMode: mergeMode.value,
    verdictRepair: verdictRepair.value,
    runner: runner.value,
    repositorySettings: repositorySettings.value,
    checkCache: checkCache.value,
    memo: memo.value,
    ...attempts.value,
    port: port.value,
  });
}

function slotsChoice(flag: string | undefined, variable: string | undefined): Choice<number> {
  return {
    name: "slots",
    flag,
    variable,
    inFile: (file) => file.slots?.toString(),
    otherwise: "3",
    parse: (text) => (/^[1-9][0-9]{0,2}$/u.test(text) && Number(text) <= 100 ? Number(text) : undefined),
    expected: "a number from 1 to 100",
  };
}

function cacheChoice(
  name: "check_cache" | "memo",
  flag: string | undefined,
  variable: string | undefined,
): Choice<boolean> {
  return {
    name,
    flag,
    variable,
    inFile: (file) => file[name],
    otherwise: "on",
    parse: (text) => ({ on: true, off: false })[text],
    expected: "on or off",
  };
}

function attemptChoices(
  files: readonly ReadFile[],
  environment: SettingsSources["environment"],
): Result<Pick<Choices, "attemptProcess" | "enclosure" | "limitNear" | "gatewayMode">> {
  const attemptProcess = choose(files, processChoice(environment["PASSRAIL_ATTEMPT_PROCESS"]));
  if (!attemptProcess.ok) return attemptProcess;
  const enclosure = choose(files, {
    name: "attempts.enclosure",
    variable: environment["PASSRAIL_ENCLOSURE"],
    inFile: (file) => file.attempts?.enclosure,
    otherwise: "auto",
    parse: oneOf(ENCLOSURE_CHOICES),
    expected: `one of ${ENCLOSURE_CHOICES.join(", ")}`,
  });
  if (!enclosure.ok) return enclosure;
  const limitNear = choose(files, {
    name: "attempts.limit_near",
    variable: environment["PASSRAIL_LIMIT_NEAR"],
    inFile: (file) => file.attempts?.limit_near?.toString(),
    otherwise: String(NEAR_PERCENT),
    parse: (text) => (/^[1-9][0-9]{0,2}$/u.test(text) && Number(text) <= 100 ? Number(text) : undefined),
    expected: "a percentage from 1 to 100",
  });
  if (!limitNear.ok) return limitNear;
  const gatewayMode = choose(files, {
    name: "gateway.mode",
    variable: environment["PASSRAIL_GATEWAY"],
    inFile: (file) => file.gateway?.mode,
    otherwise: "off",
    parse: oneOf(GATEWAY_MODES),
    expected: `one of ${GATEWAY_MODES.join(", ")}`,
  });
  if (!gatewayMode.ok) return gatewayMode;
  return ok({
    attemptProcess: attemptProcess.value,
    enclosure: enclosure.value,
    limitNear: limitNear.value,
    gatewayMode: gatewayMode.value,
  });
}

function processChoice(variable: string | undefined): Choice<AttemptProcess> {
  return {
    name: "attempts.process",
    variable,
    inFile: (file) => file.attempts?.process,
    otherwise: "agents",
    parse: oneOf(ATTEMPT_PROCESSES),
    expected: `one of ${ATTEMPT_PROCESSES.join(", ")}`,
  };
}

function portChoice(variable: string | undefined): Choice<number> {
  return {
    name: "daemon.port",
    variable,
    inFile: (file) => file.daemon?.port?.toString(),
    otherwise: String(DEFAULT_PORT),
    parse: (text) => (/^(0|[1-9][0-9]{0,4})$/u.test(text) && Number(text) <= 65_535 ? Number(text) : undefined),
    expected: "a port",
  };
}

function choose<T>(files: readonly ReadFile[], choice: Choice<T>): Result<Setting<T>> {
  const { value: text, from } = firstGiven(files, choice);
  const value = choice.parse(text);
  return value === undefined
    ? err(wrong(`${choice.name} (${from})`, `"${text}" is not ${choice.expected}`))
    : ok({ value, from });
}

function firstGiven<T>(files: readonly ReadFile[], { flag, variable, inFile, otherwise }: Choice<T>): Setting<string> {
  if (flag !== undefined) return { value: flag, from: "flag" };
  if (variable !== undefined && variable !== "") return { value: variable, from: "environment" };
  for (const { from, file } of files) {
    const value = inFile(file);
    if (value !== undefined) return { value, from };
  }
  return { value: otherwise, from: "default" };
}

function oneOf<T extends string>(known: readonly T[]): (text: string) => T | undefined {
  return (text) => known.find((each) => each === text);
}

type WrittenAgents = Readonly<Record<string, NonNullable<SettingsFile["agents"]>[string]>>;

function optionsOf(agents: WrittenAgents): Settings["agents"] {
  const entries = Object.entries(agents).flatMap(([name, { limit: _limit, ...written }]) => {
    const options = storedOptions(written);
    return Object.keys(options).length === 0 ? [] : [[name, options] as const];
  });
  return Object.fromEntries(entries);
}

function limitsOf(agents: WrittenAgents): Settings["agentLimits"] {
  const entries = Object.entries(agents).flatMap(([name, { limit }]) =>
    limit === undefined ? [] : [[name.toLowerCase(), limit] as const],
  );
  return Object.fromEntries(entries);
}

/** A repository must not decide who may send to Passrail, where its notices go, where runs are stored, how long, nor what of the user's own tools runs. */
function foreignKey(file: SettingsFile): string | undefined {
  if (file.gateway?.private !== undefined) return "gateway.private";
  const { database, webhooks, notify, public_url, retention, status_mirror, trackers, runners = {} } = file;
  const chosen = Object.entries(runners).find(([, each]) => each.user_features !== undefined);
  if (chosen !== undefined) return `runners.${chosen[0]}.user_features`;
  if (webhooks !== undefined) return "webhooks";
  if (database !== undefined) return "database";
  if (retention !== undefined) return "retention";
  if (status_mirror !== undefined) return "status_mirror";
  if (trackers !== undefined) return "trackers";
  if (public_url !== undefined) return "public_url";
  return notify?.endpoints === undefined ? undefined : "notify.endpoints";
}

/** Keys that are not here have the default. */
function writtenIn(files: readonly ReadFile[]): Settings["written"] {
  const keys = Object.keys(fileSchema.shape) as (keyof SettingsFile)[];
  const named = keys.flatMap((key) => {
    const [first, second] = files.filter(({ file }) => file[key] !== undefined).map(({ from }) => from);
    return first === undefined ? [] : [[key, second === undefined ? first : "project and user"]];
  });
  return Object.fromEntries(named) as Settings["written"];
}

function writtenKeys(files: readonly ReadFile[]): Settings["writtenKeys"] {
  const found = files
    .toReversed()
    .flatMap(({ from, file }) =>
      Object.entries(file).flatMap(([group, value]) =>
        value === null || typeof value !== "object" || Array.isArray(value)
          ? []
          : Object.keys(value).map((key) => [`${group}.${key}`, from] as const),
      ),
    );
  return Object.fromEntries(found);
}

const KNOWN_RUNNERS = RUNNERS.filter((name) => name !== "acp" && name !== "command");

function isRunner(value: string): value is RunnerName {
  return KNOWN_RUNNERS.some((name) => name === value);
}

/** The project's file wins over the user's, key by key. */
function programsOf(files: readonly SettingsFile[]): Settings["programs"] {
  const named = PROGRAMS.flatMap((name) => {
    const [near, far] = files.map((file) => file.runners?.[name]).filter((found) => found !== undefined);
    if (near === undefined) return [];
    const program = near.command ?? far?.command;
    const value: RunnerProgram = {
      ...optional({ command: program }),
      env: { ...far?.env, ...near.env },
      pass: [...(far?.pass ?? []), ...(near.pass ?? [])],
      models: { ...far?.models, ...near.models },
      ...optional({ userFeatures: near.user_features ?? far?.user_features }),
    };
    return [[name, value]];
  });
  return Object.fromEntries(named);
}

function budgetsOf(files: readonly SettingsFile[]): Budgets {
  const of = (scope: keyof Budgets) => {
    const written = files.map((file) => file.budgets?.[scope]).filter((found) => found !== undefined);
    const amount = (unit: "usd" | "tokens"): number | null => {
      for (const limit of written) {
        const said = limit === "none" ? "none" : limit[unit];
        if (said !== undefined) return said === "none" ? null : said;
      }
      return DEFAULT_BUDGETS[scope][unit];
    };
    return { usd: amount("usd"), tokens: amount("tokens") };
  };
  return { run: of("run"), ticket: of("ticket"), day: of("day") };
}

function wrong(what: string, why: string): Problem {
  return { code: "invalid_setting", message: `${what}: ${why}`, hint: "docs/settings.md lists every setting" };
}
