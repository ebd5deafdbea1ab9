// Reads the settings files of the user and the project and merges them with flags and the environment. The project's file counts in the
// version that an operator approved; the user's own needs no approval.

import { existsSync, readFileSync } from "node:fs";
import { isAbsolute, join, relative, resolve } from "node:path";
import { err, ok, type Result } from "../core/result.ts";
import type { TrustPlace } from "./trust/approval.ts";
import { filesInEffect, filesToShow } from "./trust/in-effect.ts";
import type { Settings, SettingsFile } from "./settings.ts";
import { withProjectKeys } from "./project-keys.ts";
import { type Environment, SETTINGS_FILE, type Site, userFolder } from "./site.ts";

/** Flags of every command that performs runs. */
export type SettingsFlags = { readonly slots?: string; readonly workspace?: string; readonly checkCache?: string };

/**
 * For unapproved files of the project. "show": reads them as they are, for commands that start nothing; "ignore": goes without
 * them, for commands that only stop something.
 */
type Unapproved = "refuse" | "show" | "ignore";

export type SettingsSite = Site & {
  readonly flags: SettingsFlags;
  readonly unapproved?: Unapproved;
};

/** The environment with the keys and switches of the project's `.env`. */
export function projectEnvironment(
  { environment, ...place }: Site,
  unapproved: "refuse" | "ignore" = "refuse",
): Result<Environment> {
  const inEffect = filesFor(place, unapproved);
  return inEffect.ok ? ok(withProjectKeys(environment, place.project, inEffect.value)) : inEffect;
}

/** Schemas and YAML load only here: commands that only read a store must start fast. */
export async function loadSettings({ flags, unapproved = "refuse", ...site }: SettingsSite): Promise<Result<Settings>> {
  const { environment, project } = site;
  const inEffect = filesFor(site, unapproved);
  if (!inEffect.ok) return inEffect;
  const own = await readUserFile(environment);
  if (!own.ok) return own;
  const brought =
    inEffect.value === null ? ok(undefined) : await readSettingsFile({ shown: project, read: inEffect.value });
  if (!brought.ok) return brought;
  const { readSettings } = await import("./settings.ts");
  return readSettings({ environment, flags, project: brought.value, user: own.value });
}

/** Without the project's file: no change of a repository has an effect on them. */
export async function loadUserSettings({
  environment,
  flags,
}: Pick<SettingsSite, "environment" | "flags">): Promise<Result<Settings>> {
  const own = await readUserFile(environment);
  if (!own.ok) return own;
  const { readSettings } = await import("./settings.ts");
  return readSettings({ environment, flags, project: undefined, user: own.value });
}

/** The user's setting `database`, which may hold a password: it is no part of the settings that are passed on. Null: none. */
export async function loadUserDatabase(environment: Environment): Promise<Result<string | null>> {
  const checked = await loadUserSettings({ environment, flags: {} });
  if (!checked.ok) return checked;
  const own = await readUserFile(environment);
  if (!own.ok) return own;
  const { database } = (own.value ?? {}) as SettingsFile;
  return ok(database ?? null);
}

function readUserFile(environment: Environment): Promise<Result<unknown>> {
  const folder = userFolder(environment);
  return readSettingsFile({ shown: folder, read: folder });
}

function filesFor(place: TrustPlace, unapproved: Unapproved): Result<string | null> {
  if (unapproved === "show") return ok(filesToShow(place));
  const inEffect = filesInEffect(place);
  return inEffect.ok || unapproved === "refuse" ? inEffect : ok(null);
}

/** `read` is the folder that is read, `shown` the one that messages name. */
type SettingsFolder = { readonly shown: string; readonly read: string };

async function readSettingsFile({ shown, read: folder }: SettingsFolder): Promise<Result<unknown>> {
  const path = join(folder, SETTINGS_FILE);
  if (!existsSync(path)) return ok(undefined);
  const { readYaml } = await import("../file/yaml.ts");
  const { withMcpConfigs } = await import("./mcp-servers.ts");
  const file = join(shown, SETTINGS_FILE);
  const text = readFileSync(path, "utf8");
  if (saysNothing(text)) return ok(undefined);
  const read = readYaml(text, { file, subject: "settings" });
  if (read.ok)
    return withMcpConfigs(read.value.value, (named) => {
      const asked = resolve(shown, named);
      return { shown: asked, read: inFolder(asked, { shown, read: folder }) };
    });
  return err(read.error[0] ?? { code: "yaml_syntax", message: `${file} cannot be read` });
}

/** Only comments, as `init` writes it where it found nothing to propose. */
export function saysNothing(text: string): boolean {
  return text.split("\n").every((line) => /^\s*(?:#.*)?$/u.test(line));
}

/** A file below the shown folder is read from the approved copies; one elsewhere is the user's own. */
function inFolder(file: string, { shown, read }: SettingsFolder): string {
  const path = relative(shown, file);
  return path.startsWith("..") || isAbsolute(path) ? file : join(read, path);
}
