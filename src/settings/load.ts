// Reads the settings files of the user and the project and merges them with flags and the environment.

import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { err, ok, type Result } from "../core/result.ts";
import type { Settings } from "./settings.ts";
import type { Site } from "./site.ts";

/** Flags of every command that performs runs. */
export type SettingsFlags = { readonly slots?: string; readonly workspace?: string };

export type SettingsSite = Pick<Site, "environment" | "project"> & { readonly flags: SettingsFlags };

/** Schemas and YAML load only here: commands that only read a store must start fast. */
export async function loadSettings({ environment, project, flags }: SettingsSite): Promise<Result<Settings>> {
  const { readSettings } = await import("./settings.ts");
  const { withMcpConfigs } = await import("./mcp-servers.ts");
  const userDir = environment["XDG_CONFIG_HOME"] ?? join(homedir(), ".config");
  const files: Record<"project" | "user", unknown> = { project: undefined, user: undefined };
  for (const [from, path] of [
    ["project", join(project, "passrail.yaml")],
    ["user", join(userDir, "passrail", "passrail.yaml")],
  ] as const) {
    const read = await readSettingsFile(path);
    const whole = read.ok ? withMcpConfigs(read.value, dirname(path)) : read;
    if (!whole.ok) return whole;
    files[from] = whole.value;
  }
  return readSettings({ environment, flags, ...files });
}

async function readSettingsFile(path: string): Promise<Result<unknown>> {
  if (!existsSync(path)) return ok(undefined);
  const { readYaml } = await import("../file/yaml.ts");
  const read = readYaml(readFileSync(path, "utf8"), { file: path, subject: "settings" });
  if (read.ok) return ok(read.value.value);
  return err(read.error[0] ?? { code: "yaml_syntax", message: `${path} cannot be read` });
}
