// What a stage may change (`may_change`). A judge changes nothing: what it did to the work is set aside, and a judge that touched the work
// it judges is not believed. A tester changes tests: with anything else its gates count for nothing.

import type { WorkStage } from "../core/flow/flow.ts";
import { MAIN_TRACK } from "../core/flow/flow.ts";
import type { Report } from "../core/flow/outcome.ts";
import { TEST_FILES, USUAL_TEST_FILES } from "../core/flow/test-files.ts";
import { matchesGlob } from "../core/glob.ts";
import type { Json, JsonObject } from "../core/json.ts";
import { runFacts } from "../core/run/facts.ts";
import { joinOf } from "../core/run/track-branch.ts";
import type { Workspace } from "../workspace/workspace.ts";
import { wantedNotes } from "./as-built.ts";
import type { ChangedPart } from "./changed-files.ts";
import type { AttemptJob, AttemptPorts } from "./job.ts";

const SHOWN = 10;

/** Whether the attempt's changes can be told from those of others: tracks that share a workspace change it at once. */
export function watchesChanges({ resolved, stage, track }: AttemptJob): boolean {
  if (stage.mayChange === undefined || stage.kind !== "agent") return false;
  return track === MAIN_TRACK || joinOf(resolved.flow, track) !== undefined;
}

export type Changes = {
  readonly workspace: Workspace;
  /** The commits before and after the attempt. */
  readonly from: string | null;
  readonly to: string | null;
  readonly parts: readonly ChangedPart[];
};

/** The report as it counts after a look at what the attempt changed. */
export async function checkChanges(
  job: AttemptJob,
  ports: AttemptPorts,
  changes: Changes,
  report: Report,
): Promise<Report> {
  const { stage } = job;
  if (!watchesChanges(job) || (changes.parts.length === 0 && changes.from === changes.to)) return report;
  return isJudge(stage) ? asJudge(job, ports, changes, report) : asTester(job, changes, report);
}

function isJudge({ mayChange }: Pick<WorkStage, "mayChange">): boolean {
  return mayChange !== undefined && mayChange.length === 0;
}

/** New files alone may be what a test run left; they are set aside, and the verdict stays. Changed files and commits are work. */
async function asJudge(job: AttemptJob, ports: AttemptPorts, changes: Changes, report: Report): Promise<Report> {
  const { from, to, parts, workspace } = changes;
  const touched = parts.filter(({ isNew }) => !isNew);
  const kept = await setAside(job, ports, workspace, from);
  if (touched.length === 0 && from === to)
    return warned(report, `files_set_aside: ${job.stage.id} may change nothing and left ${named(parts)}; ${kept}`);
  const what = from === to ? `changed ${named(touched)}` : `committed to the work (${named(parts)})`;
  const reason = `${job.stage.id} may change nothing and ${what}; ${kept}. Its verdict does not count.`;
  return { ...report, cause: report.cause ?? "worktree_changed_by_judge", reason };
}

/** The user's own folder is never put back. */
async function setAside(
  { run }: AttemptJob,
  { workspaces }: AttemptPorts,
  workspace: Workspace,
  from: string | null,
): Promise<string> {
  if (workspaces.setAside === undefined || from === null) return "the files are left as they are";
  const done = await workspaces.setAside(workspace, run.id, from);
  return done.ok
    ? `its changes are kept as ${done.value}`
    : `its changes could not be set aside: ${done.error.message}`;
}

function asTester(job: AttemptJob, { parts }: Changes, report: Report): Report {
  const { run, stage } = job;
  const { id, mayChange = [] } = stage;
  const globs = mayChange === TEST_FILES ? (runFacts(run).config.testFiles ?? USUAL_TEST_FILES) : mayChange;
  const noted = wantedNotes(job)?.file;
  const outside = parts.filter(({ path }) => path !== noted && !globs.some((glob) => matchesGlob(glob, path)));
  if (outside.length === 0) return report;
  const warning = `changed_outside_scope: ${id} changed ${named(outside)}, which it may not; its quality gates are not trusted`;
  return warned(withoutTrust(report), warning);
}

function withoutTrust(report: Report): Report {
  const gates: Json | undefined = report.payload?.["gates"];
  if (!Array.isArray(gates)) return report;
  const distrusted = (gates as readonly Json[]).map((gate) => (isObject(gate) ? { ...gate, clean: false } : gate));
  return { ...report, payload: { ...report.payload, gates: distrusted } };
}

function isObject(value: Json): value is JsonObject {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

function named(parts: readonly ChangedPart[]): string {
  const names = parts.slice(0, SHOWN).map(({ path }) => path.replace(/\p{Cc}/gu, "?").slice(0, 200));
  return parts.length > SHOWN ? `${names.join(", ")} and ${parts.length - SHOWN} more` : names.join(", ");
}

function warned(report: Report, warning: string): Report {
  return { ...report, warnings: [...(report.warnings ?? []), warning] };
}
