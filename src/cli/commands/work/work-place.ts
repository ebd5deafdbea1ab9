// Decides whether `passrail` without a command means `work`, as in 004: the project has a ticket folder, and no daemon is running.
// With --json or --quiet it always means the overview.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { loadSettings } from "../../../settings/load.ts";
import type { Io } from "../../terminal/io.ts";

export async function isWorkPlace(io: Io): Promise<boolean> {
  if (io.json || io.quiet) return false;
  // Most projects have neither; reading the settings takes longer than everything else here.
  if (!["feature_requests", "passrail.yaml"].some((name) => existsSync(join(io.cwd, name)))) return false;
  const config = await loadSettings({
    home: io.home,
    environment: io.environment,
    project: io.cwd,
    flags: {},
    unapproved: "show",
  });
  if (!config.ok || !existsSync(join(io.cwd, config.value.tickets.folder))) return false;
  const { findDaemon } = await import("../../../daemon/note.ts");
  return findDaemon(io.home) === undefined;
}
