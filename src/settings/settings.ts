// Settings and where they come from: flag, then environment, then the project's passrail.yaml, then the user's file, then the default.
// Each value keeps its origin, so that the product can say which one won.

import { z } from "zod";
import {
  agentOptionKeys,
  PROGRAMS,
  RUNNERS,
  type RunnerName,
  storedOptions,
  type WrittenOptions,
} from "../core/flow/agent-options.ts";
import type { Budgets } from "../core/budget/budget.ts";
import { err, ok, type Problem, type Result } from "../core/result.ts";
import { type MergeMode, MERGE_MODES, mergeSchema, type MergeSettings, mergeSettings } from "./merge.ts";
import { ticketsSchema, type TicketSettings, ticketSettings } from "./tickets.ts";
import { type TriggerSettings, triggersSchema } from "./triggers.ts";
import { type EndpointSettings, endpointsSchema, type SourceSettings, webhooksSchema } from "./webhooks.ts";
import { workspacesSchema, type WorkspaceSettings, workspaceSettings } from "./workspaces.ts";
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
  /** Taken over from the environment of Passrail. */
  pass: z.array(variable).optional(),
  /** A flow's name for a model -> the vendor's. */
  models: z.record(z.string(), z.string().min(1).max(100)).optional(),
});

const limit = z.union([
  z.literal("none"),
  z.strictObject({
    usd: z.union([z.literal("none"), z.number().positive().max(1_000_000)]).optional(),
    tokens: z.union([z.literal("none"), z.int().positive()]).optional(),
  }),
]);

const fileSchema = z.strictObject({
  slots: z.int().min(1).max(100).optional(),
  workspace: z.enum(WORKSPACE_MODES).optional(),
  workspaces: workspacesSchema.optional(),
  tickets: ticketsSchema.optional(),
  merge: mergeSchema.optional(),
  triggers: triggersSchema.optional(),
  verdict_repair: z.boolean().optional(),
  runner: z.enum(RUNNERS).exclude(["acp", "command"]).optional(),
  model: z.string().min(1).max(100).optional(),
  repository_settings: z.enum(["on", "off"]).optional(),
  agents: z.record(z.string(), agent).optional(),
  runners: z.partialRecord(z.enum(PROGRAMS), program).optional(),
  budgets: z.strictObject({ run: limit.optional(), ticket: limit.optional(), day: limit.optional() }).optional(),
  environment: z.strictObject({ pass: z.array(variable).optional() }).optional(),
  daemon: z.strictObject({ port: z.int().min(0).max(65_535).optional() }).optional(),
  notify: z.strictObject({ command: command.optional(), endpoints: endpointsSchema.optional() }).optional(),
  webhooks: webhooksSchema.optional(),
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
  readonly triggers: readonly TriggerSettings[];
  readonly verdictRepair: Setting<boolean>;
  /** The runner that plays agents for which nothing else is said. */
  readonly runner: Setting<RunnerName | "none">;
  readonly model: string | null;
  /** Where the daemon listens on loopback. */
  readonly port: Setting<number>;
  /** Whether hooks, MCP servers and settings that a repository brings for agents' programs may take effect. */
  readonly repositorySettings: Setting<boolean>;
  /** How an agent or a stage is played, from the files. */
  readonly agents: Readonly<Record<string, WrittenOptions>>;
  readonly programs: Readonly<Partial<Record<RunnerName, RunnerProgram>>>;
  readonly budgets: Budgets;
  readonly agentLimits: Readonly<Record<string, number>>;
  /** Further names of the environment that agents may see. */
  readonly passEnvironment: readonly string[];
  readonly notifyCommand: readonly string[] | null;
  /** Where notices are sent, and who may send webhooks. From the user's file only. */
  readonly notifyEndpoints: readonly EndpointSettings[];
  readonly webhooks: Readonly<Record<string, SourceSettings>>;
  /** Which files have these keys, for settings that only files have; both where they are put together. */
  readonly written: Readonly<Partial<Record<keyof SettingsFile, "project" | "user" | "project and user">>>;
};

const DEFAULT_PORT = 7377;

/** On from the first start: an agent that runs away is noticed before it is expensive. Tokens include those read from caches. */
const DEFAULT_BUDGETS: Budgets = {
  run: { usd: 25, tokens: 50_000_000 },
  ticket: { usd: 50, tokens: 100_000_000 },
  day: { usd: 100, tokens: 500_000_000 },
};

/** Where a runner's program is and what it gets besides. */
export type RunnerProgram = {
  readonly command?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly pass: readonly string[];
  readonly models: Readonly<Record<string, string>>;
};

export type SettingsSources = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Parsed YAML of passrail.yaml and of the user's file; undefined where there is none. */
  readonly project: unknown;
  readonly user: unknown;
  readonly flags: { readonly slots?: string; readonly workspace?: string };
};

export function readSettings({ environment, project, user, flags }: SettingsSources): Result<Settings> {
  const files: { from: "project" | "user"; file: SettingsFile }[] = [];
  for (const [from, value] of [
    ["project", project],
    ["user", user],
  ] as const) {
    if (value === undefined || value === null) continue;
    const parsed = fileSchema.safeParse(value);
    if (!parsed.success)
      return err(wrong(from === "project" ? "passrail.yaml" : "the user's settings", z.prettifyError(parsed.error)));
    const foreign = from === "project" ? foreignKey(parsed.data) : undefined;
    if (foreign !== undefined)
      return err(wrong("passrail.yaml", `${foreign} is not taken from a project; it belongs into the user's settings`));
    files.push({ from, file: parsed.data });
  }
  const workers = environment["PASSRAIL_SLOTS"] ?? environment["MAX_WORKERS"];
  const slots = pick(flags.slots, workers, files, (file) => file.slots?.toString(), "3");
  const slotCount = Number(slots.value);
  if (!/^[1-9][0-9]{0,2}$/u.test(slots.value) || slotCount > 100)
    return err(wrong(`slots (${slots.from})`, `"${slots.value}" is not a number from 1 to 100`));
  const workspace = pick(
    flags.workspace,
    environment["PASSRAIL_WORKSPACE"],
    files,
    (file) => file.workspace,
    "by-flow",
  );
  if (!isWorkspace(workspace.value))
    return err(
      wrong(`workspace (${workspace.from})`, `"${workspace.value}" is not one of ${WORKSPACE_MODES.join(", ")}`),
    );
  const merge = pick(undefined, environment["MERGE_MODE"], files, (file) => file.merge?.mode, "auto");
  if (!isMergeMode(merge.value))
    return err(wrong(`merge.mode (${merge.from})`, `"${merge.value}" is not one of ${MERGE_MODES.join(", ")}`));
  const repair = pick(
    undefined,
    environment["PASSRAIL_VERDICT_REPAIR"],
    files,
    (file) => file.verdict_repair?.toString(),
    "true",
  );
  if (repair.value !== "true" && repair.value !== "false")
    return err(wrong(`verdict_repair (${repair.from})`, `"${repair.value}" is not true or false`));
  const runner = pick(undefined, environment["PASSRAIL_RUNNER"], files, (file) => file.runner, "none");
  if (runner.value !== "none" && !isRunner(runner.value))
    return err(wrong(`runner (${runner.from})`, `"${runner.value}" is not one of ${KNOWN_RUNNERS.join(", ")}`));
  const settings = pick(
    undefined,
    environment["PASSRAIL_REPOSITORY_SETTINGS"],
    files,
    (file) => file.repository_settings,
    "off",
  );
  if (settings.value !== "on" && settings.value !== "off")
    return err(wrong(`repository_settings (${settings.from})`, `"${settings.value}" is not on or off`));
  const port = pick(
    undefined,
    environment["PASSRAIL_PORT"],
    files,
    (file) => file.daemon?.port?.toString(),
    String(DEFAULT_PORT),
  );
  if (!/^(0|[1-9][0-9]{0,4})$/u.test(port.value) || Number(port.value) > 65_535)
    return err(wrong(`daemon.port (${port.from})`, `"${port.value}" is not a port`));
  const agents = Object.fromEntries(files.toReversed().flatMap(({ file }) => Object.entries(file.agents ?? {})));
  return ok({
    slots: { value: slotCount, from: slots.from },
    workspace: { value: workspace.value, from: workspace.from },
    workspaces: workspaceSettings(files.map(({ file }) => file.workspaces)),
    tickets: ticketSettings(files.map(({ file }) => file.tickets)),
    merge: { ...mergeSettings(files.map(({ file }) => file.merge)), mode: { value: merge.value, from: merge.from } },
    triggers: files.flatMap(({ file }) => file.triggers ?? []),
    verdictRepair: { value: repair.value === "true", from: repair.from },
    port: { value: Number(port.value), from: port.from },
    runner: { value: runner.value, from: runner.from },
    model: files.map(({ file }) => file.model).find((found) => found !== undefined) ?? null,
    repositorySettings: { value: settings.value === "on", from: settings.from },
    agents: Object.fromEntries(
      Object.entries(agents).flatMap(([name, { limit: _limit, ...written }]) => {
        const options = storedOptions(written);
        return Object.keys(options).length === 0 ? [] : [[name, options]];
      }),
    ),
    programs: programsOf(files.map(({ file }) => file)),
    budgets: budgetsOf(files.map(({ file }) => file)),
    agentLimits: Object.fromEntries(
      Object.entries(agents).flatMap(([name, agent]) =>
        agent.limit === undefined ? [] : [[name.toLowerCase(), agent.limit]],
      ),
    ),
    passEnvironment: files.flatMap(({ file }) => file.environment?.pass ?? []),
    written: writtenIn(files),
    notifyCommand: files.map(({ file }) => file.notify?.command).find((found) => found !== undefined) ?? null,
    notifyEndpoints: files.flatMap(({ file }) => file.notify?.endpoints ?? []),
    webhooks: Object.fromEntries(files.flatMap(({ file }) => Object.entries(file.webhooks ?? {}))),
  });
}

/** A repository must not say who may send us something, nor where news of it go. */
function foreignKey({ webhooks, notify }: SettingsFile): string | undefined {
  if (webhooks !== undefined) return "webhooks";
  return notify?.endpoints === undefined ? undefined : "notify.endpoints";
}

/** Everything else is the default. */
function writtenIn(files: readonly { from: "project" | "user"; file: SettingsFile }[]): Settings["written"] {
  const keys = Object.keys(fileSchema.shape) as (keyof SettingsFile)[];
  const named = keys.flatMap((key) => {
    const [first, second] = files.filter(({ file }) => file[key] !== undefined).map(({ from }) => from);
    return first === undefined ? [] : [[key, second === undefined ? first : "project and user"]];
  });
  return Object.fromEntries(named) as Settings["written"];
}

const KNOWN_RUNNERS = RUNNERS.filter((name) => name !== "acp" && name !== "command");

function isRunner(value: string): value is RunnerName {
  return KNOWN_RUNNERS.some((name) => name === value);
}

/** Key by key the project's file wins over the user's. */
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

function pick(
  flag: string | undefined,
  environment: string | undefined,
  files: readonly { from: "project" | "user"; file: SettingsFile }[],
  read: (file: SettingsFile) => string | undefined,
  fallback: string,
): Setting<string> {
  if (flag !== undefined) return { value: flag, from: "flag" };
  if (environment !== undefined && environment !== "") return { value: environment, from: "environment" };
  for (const { from, file } of files) {
    const value = read(file);
    if (value !== undefined) return { value, from };
  }
  return { value: fallback, from: "default" };
}

function isWorkspace(value: string): value is WorkspaceMode | "by-flow" {
  return value === "by-flow" || WORKSPACE_MODES.some((mode) => mode === value);
}

function isMergeMode(value: string): value is MergeMode {
  return MERGE_MODES.some((mode) => mode === value);
}

function wrong(what: string, why: string): Problem {
  return { code: "invalid_setting", message: `${what}: ${why}`, hint: "docs/settings.md lists every setting" };
}
