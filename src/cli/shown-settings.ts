// Settings for a command that only reads: it reads unapproved files, too, because it runs none of their programs.

import { loadSettings } from "../settings/load.ts";
import type { Settings } from "../settings/settings.ts";
import { EXIT, problemError } from "./errors.ts";
import type { Io } from "./terminal/io.ts";

export async function shownSettings({ home, environment, cwd }: Io): Promise<Settings> {
  const config = await loadSettings({ home, environment, project: cwd, flags: {}, unapproved: "show" });
  if (!config.ok) throw problemError(config.error, EXIT.usage);
  return config.value;
}
