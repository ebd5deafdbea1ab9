// Settings for a command that only looks: files that nobody has approved yet are read, too, because nothing of them runs.

import { loadSettings } from "../settings/load.ts";
import type { Settings } from "../settings/settings.ts";
import { EXIT, problemError } from "./errors.ts";
import type { Io } from "./terminal/io.ts";

export async function shownSettings({ home, environment, cwd }: Io): Promise<Settings> {
  const config = await loadSettings({ home, environment, project: cwd, flags: {}, unapproved: "show" });
  if (!config.ok) throw problemError(config.error, EXIT.usage);
  return config.value;
}
