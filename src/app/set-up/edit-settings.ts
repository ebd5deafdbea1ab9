// Settings from the dashboard: the values of each file, and one change with the diff that the person saw. The file must still be the one that
// the diff was made for.

import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Json } from "../../core/json.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { Actor } from "../../core/run/event.ts";
import { readYaml } from "../../file/yaml.ts";
import { EDITABLE_SETTINGS, type EditableSetting, editableSetting } from "../../settings/editable-settings.ts";
import { saysNothing } from "../../settings/load.ts";
import { SETTINGS_FILE, type Site, userSettingsFile } from "../../settings/site.ts";
import { approveProject } from "../trust/trust.ts";
import { changeSettings, type SettingsChange } from "./change-settings.ts";

export type WrittenIn = {
  readonly scope: SettingsChange["scope"];
  readonly path: string;
  /** Of the file's text; another one after every change of it. */
  readonly version: string;
};

export type EditableRow = EditableSetting & {
  /** The value in each file; null if the file does not set it. */
  readonly user: Json;
  readonly project: Json;
};

export type EditableSettings = {
  readonly files: readonly WrittenIn[];
  readonly rows: readonly EditableRow[];
};

export function lookAtEditable(site: Site): EditableSettings {
  const [user, project] = [readFile(site, "user"), readFile(site, "project")];
  return {
    files: [user, project].map(({ scope, path, version }) => ({ scope, path, version })),
    rows: EDITABLE_SETTINGS.map((setting) => ({
      ...setting,
      user: valueAt(user.value, setting.name),
      project: valueAt(project.value, setting.name),
    })),
  };
}

export type EditRequest = {
  readonly scope: SettingsChange["scope"];
  readonly name: string;
  /** Null removes the key. */
  readonly value: Json;
  /** Of the file that the person looked at; undefined only shows the diff. */
  readonly version: string | undefined;
};

export type EditedSettings = {
  readonly path: string;
  readonly diff: string;
  /** Of the file before the change, where nothing was written; else of the file after it. */
  readonly version: string;
  readonly written: boolean;
  /** The project's file was approved with this act. Otherwise a changed project's file waits for approval. */
  readonly approved: boolean;
};

export type Editor = { readonly actor: Actor; readonly now: string };

export function editSetting(site: Site, request: EditRequest, by: Editor): Result<EditedSettings> {
  const { scope, name, value, version } = request;
  if (editableSetting(name) === undefined)
    return err({
      code: "setting_not_editable",
      message: `${JSON.stringify(name)} is not changed from here.`,
      hint: `passrail config set ${name} VALUE`,
    });
  const before = readFile(site, scope).version;
  if (version !== undefined && version !== before)
    return err({ code: "settings_changed", message: "The file has changed since you looked at it." });
  const change = { scope, path: name.split("."), value: value === null ? undefined : value };
  const changed = changeSettings(site, change, version === undefined);
  if (!changed.ok) return changed;
  const { path, diff, approvable } = changed.value;
  const written = version !== undefined && diff !== "";
  const { actor, now } = by;
  const approved = written && approvable !== null && approveProject(site, { hash: approvable.hash, by: actor, now }).ok;
  return ok({ path, diff, version: readFile(site, scope).version, written, approved });
}

function readFile(site: Site, scope: SettingsChange["scope"]): WrittenIn & { readonly value: unknown } {
  const path = scope === "project" ? join(site.project, SETTINGS_FILE) : userSettingsFile(site.environment);
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  const version = createHash("sha256").update(text).digest("hex");
  const read = saysNothing(text) ? undefined : readYaml(text, { file: path, subject: "settings" });
  return { scope, path, version, value: read?.ok === true ? read.value.value : undefined };
}

function valueAt(value: unknown, name: string): Json {
  let at = value;
  for (const key of name.split(".")) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return null;
    at = (at as Record<string, unknown>)[key];
  }
  return (at ?? null) as Json;
}
