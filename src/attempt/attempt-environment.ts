// The variables that every program of an attempt finds in its environment. Its children inherit them, the repository's own tests among
// them, so nothing here lets anybody give a verdict: nonce, token and the place of the verdict are in the prompt, which only the program reads.

import { needsTokenVariable } from "../core/prompt/form.ts";
import type { Workspace } from "../workspace/workspace.ts";
import type { AttemptJob } from "./job.ts";

/** `isBare`: a user's program at a stage whose verdict needs no nonce. It is told where to write, so that three lines of shell are enough. */
export function attemptEnvironment(
  job: AttemptJob,
  workspace: Workspace,
  isBare: boolean,
): Readonly<Record<string, string>> {
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
    PASSRAIL_URL: job.url,
    ...(needsTokenVariable(job.resolved, stage) ? { PASSRAIL_TOKEN: job.token } : {}),
    ...(isBare ? { PASSRAIL_VERDICT_FILE: job.files.verdict, PASSRAIL_HANDOFF_FILE: job.files.handoff } : {}),
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
