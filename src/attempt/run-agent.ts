// The work of an agent in its workspace: clear the way, hold the conversation, record the result.

import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Report } from "../core/flow/outcome.ts";
import type { RunnerChoice } from "../core/flow/runner-choice.ts";
import { fillFacts } from "../core/flow/template.ts";
import type { JsonObject } from "../core/json.ts";
import { optional } from "../core/optional.ts";
import { factOf } from "../core/run/sequence.ts";
import type { AttemptEnd } from "../runner/runner.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { isInside, setAside, writeRecord } from "./attempt-files.ts";
import { changedFiles } from "./changed-files.ts";
import { converse, type Conversed } from "./converse.ts";
import { failpoint } from "./failpoint.ts";
import type { AttemptJob, AttemptPorts } from "./job.ts";
import { checkHandoff, missingFiles, stampRequired } from "./required-files.ts";

export type AgentResult = {
  readonly report: Report;
  /** Files that the flow says the stage writes, and that this attempt did not write. */
  readonly missing: readonly string[];
};

export type AgentPlace = {
  readonly play: RunnerChoice;
  readonly workspace: Workspace;
  /** The commit that the attempt started from. */
  readonly from: string | null;
};

export async function runAgent(job: AttemptJob, ports: AttemptPorts, place: AgentPlace): Promise<AgentResult> {
  const { stage, files } = job;
  const { workspace, from } = place;
  const dir = workDir(job, workspace);
  const refused = await clearTheWay(job, workspace, dir);
  if (refused !== undefined)
    return { report: { cause: "workspace_dir_outside", reason: `${refused} leads out of the workspace` }, missing: [] };
  const stamps = await stampRequired(dir, stage);
  // Changes that earlier stages left uncommitted are not this stage's work.
  const comparesDiffs = job.resolved.flow.workspace.memory !== undefined || stage.writes.includes("git-commit");
  const diffOf = async (): Promise<string> => ports.runners.redact(await ports.workspaces.diff(workspace, from));
  const diffBefore = comparesDiffs ? await diffOf() : "";
  const conversed = await converse(job, ports, { ...place, dir });
  const to = await ports.workspaces.head(workspace);
  const diff = await diffOf();
  await writeRecord(files.diff, diff);
  await ports.note({
    ...conversedFacts(conversed),
    workspace: workspace.dir,
    mode: workspace.mode,
    repository: workspace.repository ?? null,
    branch: workspace.branch ?? null,
    from,
    to,
    repaired: conversed.repaired,
    diffBytes: diff.length,
    files: changedFiles(diff, diffBefore),
  });
  const missing = await missingFiles(dir, stage, stamps, from !== to || diff !== diffBefore);
  const report = { ...(await checkHandoff(dir, conversed.reading.report)), ...optional({ usage: conversed.usage }) };
  failpoint("report-read");
  return { report, missing };
}

/** Makes the agent's folder and moves an old review away. Names the path that would lead out of the workspace. */
async function clearTheWay(job: AttemptJob, workspace: Workspace, dir: string): Promise<string | undefined> {
  const { stage, files } = job;
  if (!(await isInside(workspace.dir, dir))) return `the folder ${dir} of this track`;
  await mkdir(dir, { recursive: true });
  if (stage.result.from === "file-verdict" && stage.result.path !== undefined) {
    const review = join(dir, stage.result.path);
    if (!(await isInside(workspace.dir, dirname(review)))) return `the folder of ${stage.result.path}`;
    await setAside(review, files, "replaced-verdict.md");
  }
  return undefined;
}

/** Tracks work in their own folder of the workspace where the flow and the run's facts name one. */
function workDir({ resolved, run, stage, track }: AttemptJob, workspace: Workspace): string {
  const plan = resolved.flow.stages.find((each) => each.kind === "parallel" && Object.hasOwn(each.tracks, track));
  const trackDir = plan?.kind === "parallel" ? plan.tracks[track]?.workspace?.dir : undefined;
  const dir = stage.workspace?.dir ?? trackDir;
  const filled = dir === undefined ? undefined : fillFacts(dir, (path) => factOf(run, path));
  return filled === undefined || filled.includes("..") || filled.startsWith("/")
    ? workspace.dir
    : join(workspace.dir, filled);
}

function conversedFacts({ end, usage, session }: Conversed): JsonObject {
  return {
    ended: end.reason,
    exitCode: end.exitCode,
    signal: end.signal,
    durationMs: Math.round(end.durationMs),
    outputBytes: end.outputBytes,
    truncated: end.truncated,
    detail: end.detail,
    ...reportedFacts(end, usage),
    ...(session === null
      ? {}
      : { session: { id: session.id, totals: session.totals === null ? null : { ...session.totals } } }),
  };
}

/** Metadata that the agent's program reported; none for programs that only print. */
function reportedFacts({ conversation }: AttemptEnd, reported: Report["usage"]): JsonObject {
  if (conversation === undefined) return {};
  const { version, turns, toolCalls, denials } = conversation;
  const model = reported?.model ?? conversation.model;
  return { model, version, turns, toolCalls, denials, usage: reported === undefined ? null : { ...reported.usage } };
}
