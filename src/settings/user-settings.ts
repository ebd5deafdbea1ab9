// The user's own settings as they are now, for parts of the daemon that must notice a change: a source or an endpoint that the user removed,
// or whose secret is elsewhere now. An unchanged file costs one stat. A file with an error keeps the last good settings in force.

import { statSync } from "node:fs";
import { loadUserSettings, type SettingsSite } from "./load.ts";
import { userSettingsFile } from "./site.ts";
import type { Settings } from "./settings.ts";

export type UserSettingsOptions = Pick<SettingsSite, "environment" | "flags"> & {
  readonly initial: Settings;
  /** Called once per change that cannot be used. */
  readonly onProblem: (text: string) => void;
};

export function createUserSettings({ environment, flags, initial, onProblem }: UserSettingsOptions) {
  const file = userSettingsFile(environment);
  let stamp = stampOf(file);
  let current = initial;
  return async (): Promise<Settings> => {
    const now = stampOf(file);
    if (now === stamp) return current;
    stamp = now;
    const loaded = await loadUserSettings({ environment, flags });
    if (loaded.ok) current = loaded.value;
    else onProblem(`${file} was changed and cannot be used: ${loaded.error.message}`);
    return current;
  };
}

function stampOf(file: string): string {
  const stat = statSync(file, { throwIfNoEntry: false });
  return stat === undefined ? "-" : `${stat.ino}:${stat.mtimeMs}:${stat.ctimeMs}:${stat.size}`;
}
