// A person says that a waiting run's work is merged. Passrail looks for it at the forge first; without proof it counts only with a reason.

import type { Report } from "../../core/flow/outcome.ts";
import { err, type Problem, type Result, ok } from "../../core/result.ts";
import type { Actor } from "../../core/run/event.ts";
import { projectOf } from "../../core/run/run-settings.ts";
import type { Engine } from "../../engine/engine.ts";
import { loadSettings, projectEnvironment } from "../../settings/load.ts";
import { forcedReport, proveMerge } from "./done.ts";
import type { LandingRun } from "./find.ts";
import { report } from "./merge-stage.ts";
import { forgeOfProject } from "./open.ts";

export type MergeClaim = {
  /** The commit that holds the work, if it was squashed or rebased. */
  readonly commit?: string;
  /** Why it counts without proof. */
  readonly unproven?: string;
};

export type MergeSight = { readonly report: Report; readonly key: string };

type Place = { readonly home: string; readonly environment: Readonly<Record<string, string | undefined>> };

/** Looks and stores nothing. */
export async function checkMerge(place: Place, found: LandingRun, claim: MergeClaim): Promise<Result<MergeSight>> {
  const { run, number, waits, landed } = found;
  if (waits === undefined)
    return err({
      code: "not_awaiting_merge",
      message: `${run.subject.id} is ${run.word}; it does not wait for a merge.`,
      hint: `passrail runs show ${number}`,
    });
  if (claim.unproven !== undefined) return ok({ report: forcedReport(landed, claim.unproven), key: "forced" });
  const proven = await prove(place, found, claim.commit);
  return proven.ok ? ok({ report: proven.value, key: "merged" }) : proven;
}

/** Returns what was seen. */
export async function markMerged(
  engine: Pick<Engine, "deliver">,
  { run, waits }: LandingRun,
  sight: MergeSight,
  actor: Actor,
): Promise<Result<string>> {
  if (waits === undefined) return err(refused(run.subject.id, "it does not wait for a merge"));
  const { ignored } = await report(engine, run, waits, { ...sight, actor });
  return ignored === undefined ? ok(sight.report.summary ?? "merged") : err(refused(run.subject.id, ignored));
}

function refused(id: string, why: string): Problem {
  return { code: "done_refused", message: `${id} was not marked as merged: ${why}.` };
}

async function prove({ home, environment }: Place, { run, landed }: LandingRun, commit?: string) {
  if (landed === undefined)
    return err({
      code: "nothing_recorded",
      message: `No pull request of ${run.subject.id} is recorded.`,
      hint: 'passrail done … --force --reason "…"',
    });
  const project = projectOf(run);
  const found = projectEnvironment({ home, project, environment });
  if (!found.ok) return found;
  const config = await loadSettings({ home, environment: found.value, project, flags: {} });
  if (!config.ok) return config;
  const { merge, tickets } = config.value;
  const forge = await forgeOfProject(project, {
    home,
    environment: found.value,
    settings: merge,
    ticketsFolder: tickets.folder,
  });
  return forge.ok ? proveMerge(forge.value, landed, commit) : forge;
}
