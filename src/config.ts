// Settings and where they come from: flag, then environment, then the project's passrail.yaml, then the user's file, then the default.
// Each value keeps its origin, so that the product can say which one won.

import { z } from "zod";
import { err, ok, type Problem, type Result } from "./core/result.ts";

const command = z.array(z.string().min(1)).min(1);

const fileSchema = z.strictObject({
  slots: z.int().min(1).max(100).optional(),
  workspace: z.enum(["in-place", "worktree"]).optional(),
  verdict_repair: z.boolean().optional(),
  agents: z
    .record(z.string(), z.strictObject({ command: command.optional(), limit: z.int().min(1).max(100).optional() }))
    .optional(),
  environment: z.strictObject({ pass: z.array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]*$/)).optional() }).optional(),
  notify: z.strictObject({ command }).optional(),
});

export type SettingsFile = z.infer<typeof fileSchema>;
export type Origin = "flag" | "environment" | "project" | "user" | "default";
export type Setting<T> = { readonly value: T; readonly from: Origin };

export type Config = {
  readonly slots: Setting<number>;
  readonly workspace: Setting<"in-place" | "worktree" | "by-flow">;
  readonly verdictRepair: Setting<boolean>;
  /** Program per agent or stage, from the files. */
  readonly commands: Readonly<Record<string, readonly string[]>>;
  readonly agentLimits: Readonly<Record<string, number>>;
  /** Further names of the environment that agents may see. */
  readonly passEnvironment: readonly string[];
  readonly notifyCommand: readonly string[] | null;
};

export type ConfigSources = {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Parsed YAML of passrail.yaml and of the user's file; undefined where there is none. */
  readonly project: unknown;
  readonly user: unknown;
  readonly flags: { readonly slots?: string; readonly workspace?: string };
};

export function readConfig({ environment, project, user, flags }: ConfigSources): Result<Config> {
  const files: { from: "project" | "user"; file: SettingsFile }[] = [];
  for (const [from, value] of [
    ["project", project],
    ["user", user],
  ] as const) {
    if (value === undefined || value === null) continue;
    const parsed = fileSchema.safeParse(value);
    if (!parsed.success)
      return err(wrong(from === "project" ? "passrail.yaml" : "the user's settings", z.prettifyError(parsed.error)));
    files.push({ from, file: parsed.data });
  }
  const slots = pick(flags.slots, environment["PASSRAIL_SLOTS"], files, (file) => file.slots?.toString(), "3");
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
    return err(wrong(`workspace (${workspace.from})`, `"${workspace.value}" is not in-place or worktree`));
  const repair = pick(
    undefined,
    environment["PASSRAIL_VERDICT_REPAIR"],
    files,
    (file) => file.verdict_repair?.toString(),
    "true",
  );
  if (repair.value !== "true" && repair.value !== "false")
    return err(wrong(`verdict_repair (${repair.from})`, `"${repair.value}" is not true or false`));
  const agents = Object.fromEntries(files.toReversed().flatMap(({ file }) => Object.entries(file.agents ?? {})));
  return ok({
    slots: { value: slotCount, from: slots.from },
    workspace: { value: workspace.value, from: workspace.from },
    verdictRepair: { value: repair.value === "true", from: repair.from },
    commands: Object.fromEntries(
      Object.entries(agents).flatMap(([name, agent]) => (agent.command === undefined ? [] : [[name, agent.command]])),
    ),
    agentLimits: Object.fromEntries(
      Object.entries(agents).flatMap(([name, agent]) =>
        agent.limit === undefined ? [] : [[name.toLowerCase(), agent.limit]],
      ),
    ),
    passEnvironment: files.flatMap(({ file }) => file.environment?.pass ?? []),
    notifyCommand: files.map(({ file }) => file.notify?.command).find((found) => found !== undefined) ?? null,
  });
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

function isWorkspace(value: string): value is "in-place" | "worktree" | "by-flow" {
  return value === "in-place" || value === "worktree" || value === "by-flow";
}

function wrong(what: string, why: string): Problem {
  return { code: "invalid_setting", message: `${what}: ${why}`, hint: "docs/settings.md lists every setting" };
}
