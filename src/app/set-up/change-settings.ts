// Changes one setting in the project's or the user's file: checks the whole file as a start would, before it is replaced in one step.

import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Json } from "../../core/json.ts";
import { err, ok, type Result } from "../../core/result.ts";
import { textDiff } from "../../core/view/text-diff.ts";
import { writeConfined } from "../../file/confined.ts";
import { readYaml } from "../../file/yaml.ts";
import { editSettings } from "../../settings/edit-settings.ts";
import { saysNothing } from "../../settings/load.ts";
import { readSettings } from "../../settings/settings.ts";
import { SETTINGS_FILE, type Site, userSettingsFile } from "../../settings/site.ts";
import { lookAtTrust, type TrustState } from "../trust/trust.ts";
import { approvableAfter } from "./write-settings.ts";

export type SettingsChange = {
  readonly scope: "project" | "user";
  readonly path: readonly string[];
  /** Undefined removes the key. */
  readonly value: Json | undefined;
};

/** `approvable`: the project's files to approve with this act; null where it needs none, or other files wait, too. */
export type ChangedSettings = { readonly path: string; readonly diff: string; readonly approvable: TrustState | null };

export function changeSettings(site: Site, change: SettingsChange, dryRun: boolean): Result<ChangedSettings> {
  const files = { project: join(site.project, SETTINGS_FILE), user: userSettingsFile(site.environment) };
  const path = files[change.scope];
  const before = textOf(path);
  const [project, user] = [valueIn(textOf(files.project), files.project), valueIn(textOf(files.user), files.user)];
  if (!project.ok) return project;
  if (!user.ok) return user;
  const after = editSettings(before, change.path, change.value);
  const fresh = valueIn(after, path);
  if (!fresh.ok) return fresh;
  const both = { project: project.value, user: user.value, [change.scope]: fresh.value };
  const read = readSettings({ environment: {}, flags: {}, ...both });
  if (!read.ok) return read;
  const diff = textDiff(before, after);
  if (dryRun || diff === "") return ok({ path, diff, approvable: null });
  const trusted = lookAtTrust(site);
  if (change.scope === "user") mkdirSync(dirname(path), { recursive: true });
  const written = writeConfined(dirname(path), path, after, 0o644);
  if (!written.ok) return written;
  return ok({ path, diff, approvable: change.scope === "project" ? approvableAfter(trusted, site) : null });
}

function textOf(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}

function valueIn(text: string, file: string): Result<unknown> {
  if (saysNothing(text)) return ok(undefined);
  const read = readYaml(text, { file, subject: "settings" });
  return read.ok
    ? ok(read.value.value)
    : err(read.error[0] ?? { code: "yaml_syntax", message: `${file} cannot be read` });
}
