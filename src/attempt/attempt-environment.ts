// The variables that every program of an attempt finds in its environment.

import type { Workspace } from "../workspace/workspace.ts";
import type { AttemptJob } from "./job.ts";

export function attemptEnvironment(job: AttemptJob, workspace: Workspace): Readonly<Record<string, string>> {
  const { stage, run } = job;
  return {
    ...workspace.env,
    PASSRAIL_RUN_ID: run.id,
    PASSRAIL_STAGE: stage.id,
    PASSRAIL_AGENT: stage.shownAgent,
    PASSRAIL_TRACK: job.track,
    PASSRAIL_ATTEMPT: String(job.attempt),
    PASSRAIL_LOOP: String(job.carry.loop),
    PASSRAIL_SUBJECT_ID: run.subject.id,
    PASSRAIL_VERDICT_FILE: job.files.verdict,
    PASSRAIL_HANDOFF_FILE: job.files.handoff,
    PASSRAIL_NONCE: job.nonce,
    PASSRAIL_URL: job.url,
    // Grants the rights of this attempt only, and expires with it.
    PASSRAIL_TOKEN: job.token,
    ...flowNames(job, workspace),
  };
}

/** Names that a source's agents expect, where the flow lists them. */
function flowNames({ url, run, stage }: AttemptJob, workspace: Workspace): Record<string, string> {
  const known: Record<string, string> = {
    DASHBOARD_URL: url,
    STORY_ID: run.subject.id,
    BRANCH: workspace.branch ?? "",
  };
  return Object.fromEntries(stage.vars.flatMap((name) => (known[name] === undefined ? [] : [[name, known[name]]])));
}
