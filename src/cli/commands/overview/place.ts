// The part of `passrail` alone about the project: before the first run everything, later only its tickets.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { lookAtPlace } from "../../../app/look-at-place.ts";
import type { SeenPlace } from "../../../core/view/place-text.ts";
import { readyRunners } from "../../../runner/ready.ts";
import { loadSettings } from "../../../settings/load.ts";
import { CliError, problemError } from "../../errors.ts";
import type { Io } from "../../terminal/io.ts";
import { readTickets } from "../ticket/read-tickets.ts";

export async function seePlace(io: Io): Promise<SeenPlace> {
  const { environment, cwd, home } = io;
  const config = await loadSettings({ home, environment, project: cwd, flags: {}, unapproved: "show" });
  if (!config.ok) throw problemError(config.error);
  const { project, repository, agents, hasSettings } = await lookAtPlace(environment, cwd, config.value);
  return {
    project,
    ...repository,
    ready: readyRunners(agents),
    gaps: agents.map(({ runner, fix }) => ({ runner, fix })),
    hasSettings,
    tickets: await seeTickets(io),
  };
}

/** Null where the project has no folder of tickets. */
export async function seeTickets(io: Io): Promise<SeenPlace["tickets"]> {
  // Reading the settings takes longer than everything else here, and most projects have neither.
  if (!["feature_requests", "passrail.yaml"].some((name) => existsSync(join(io.cwd, name)))) return null;
  try {
    const { scan, plan } = await readTickets(io);
    return scan.tickets.length === 0 ? null : { all: scan.tickets.length, canStart: plan.eligible.length };
  } catch (error) {
    // The commands that need unreadable settings report them.
    if (error instanceof CliError) return null;
    throw error;
  }
}
