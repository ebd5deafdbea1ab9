// Decides whether `passrail` without a command means `work`, as in 004: the operator has allowed automatic starts of
// tickets (`tickets.dispatch: true`, in the user's file or in approved files of the project), the project has a ticket
// folder, and no daemon is running. Otherwise, or with --json or --quiet, it means the overview, which starts nothing.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { loadSettings } from "../../../settings/load.ts";
import type { Io } from "../../terminal/io.ts";

export async function isWorkPlace({ json, quiet, home, environment, cwd }: Io): Promise<boolean> {
  if (json || quiet) return false;
  // Most projects have neither; reading the settings takes longer than everything else here.
  if (!["feature_requests", "passrail.yaml"].some((name) => existsSync(join(cwd, name)))) return false;
  // Files without an approval allow nothing.
  const config = await loadSettings({ home, environment, project: cwd, flags: {} });
  if (!config.ok || !config.value.tickets.dispatch || !existsSync(join(cwd, config.value.tickets.folder))) return false;
  const { findDaemon } = await import("../../../daemon/note.ts");
  return findDaemon(home) === undefined;
}
