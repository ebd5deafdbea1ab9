// The commits of attempts on their way between nodes of one database: a bundle for each attempt, and on the node that takes a run over the
// branch where the newest of them is.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { attemptFacts } from "../core/attempt-facts.ts";
import type { WorkspaceMode } from "../core/flow/workspace-mode.ts";
import { err, ok, type Result } from "../core/result.ts";
import type { Run } from "../core/run/run.ts";
import { projectOf } from "../core/run/run-settings.ts";
import { makeFolders } from "../file/confined.ts";
import { bundleCommits, hasCommit, knownOf, setRef, takeBundle, workRef } from "../git/carried-commits.ts";
import { git, inRepository } from "../git/git.ts";
import { pinCommit } from "../git/pin.ts";
import { findProject, findRepository, resolveCommits } from "../git/repository.ts";
import type { NodeShare, RunCopy, Store } from "../store/store.ts";
import type { Workspaces } from "../workspace/workspace.ts";

export type RunCopiesOptions = {
  readonly home: string;
  /** The id of this node. */
  readonly node: string;
  readonly share: NodeShare;
  readonly store: Pick<Store, "attempts">;
  readonly workspaces: (mode: WorkspaceMode) => Workspaces;
  /** Called with commits that could not be copied: they stay on this machine alone. */
  readonly onProblem: (runId: string, error: unknown) => void;
};

/** `data` is empty where every repository of the project has the commit: nothing was added to what its remote has. */
const aboutSchema = z.strictObject({
  branch: z.string(),
  commit: z.string().regex(/^[0-9a-f]{40,64}$/u),
  ref: z.string(),
});
type AboutCommits = z.infer<typeof aboutSchema>;

export async function keepCommits(
  { share, node, store, onProblem }: RunCopiesOptions,
  runId: string,
  stage: string,
  attempt: number,
): Promise<void> {
  const records = await store.attempts(runId);
  const own = records.find((each) => each.stage === stage && each.attempt === attempt);
  const { branch, to, repository } = attemptFacts(own ?? { facts: {} });
  if (branch === null || to === null || repository === null) return;
  const about = (await share.copies(runId)).flatMap(aboutOf);
  if (about.findLast((each) => each.branch === branch)?.commit === to) return;
  const ref = workRef(runId, stage, attempt);
  const folder = mkdtempSync(join(tmpdir(), "passrail-copy-"));
  try {
    const file = join(folder, "work.bundle");
    const known = await knownOf(repository, [...new Set(about.map(({ commit }) => commit))]);
    const remote = known.length > 0 ? [] : await remoteTips(repository);
    const isNew = !(await isReachable(repository, to, [...known, ...remote]));
    const made = isNew
      ? await bundleCommits({ repository, ref, commit: to, known: [...known, ...remote], file })
      : await setRef(repository, ref, to);
    if (!made.ok)
      return onProblem(runId, new Error(`The commits of ${stage} could not be copied: ${made.error.message}`));
    const data = isNew ? readFileSync(file) : Buffer.alloc(0);
    const said: AboutCommits = { branch, commit: to, ref };
    await share.saveCopy({ runId, name: `commits/${stage}-${attempt}`, by: node, about: JSON.stringify(said), data });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function aboutOf({ name, about }: RunCopy): readonly AboutCommits[] {
  return name.startsWith("commits/") ? [aboutSchema.parse(JSON.parse(about))] : [];
}

/** The commits that every clone of the project can have: those of its remotes. */
async function remoteTips(repository: string): Promise<readonly string[]> {
  const args = ["for-each-ref", "--format=%(objectname)", "refs/remotes"];
  const listed = await git(repository, args, { ...inRepository(repository), maxBytes: 4 * 1024 * 1024 });
  return listed.ok ? [...new Set(listed.value.split("\n").filter((line) => line !== ""))] : [];
}

async function isReachable(repository: string, commit: string, from: readonly string[]): Promise<boolean> {
  if (from.length === 0) return false;
  const input = [commit, ...from.map((each) => `^${each}`), ""].join("\n");
  const left = await git(repository, ["rev-list", "--max-count=1", "--ignore-missing", "--stdin"], {
    ...inRepository(repository),
    input,
  });
  return left.ok && left.value.trim() === "";
}

/** The newest copy of each branch decides where it is, if another node made it. */
export async function bringCommits(
  options: RunCopiesOptions,
  run: Run,
  mode: WorkspaceMode,
  copies: readonly RunCopy[],
): Promise<Result<null>> {
  const project = await findProject(projectOf(run));
  const found = project.ok ? await findRepository(project.value) : project;
  if (!found.ok) return found;
  const { commonDir } = found.value;
  for (const copy of copies) {
    const taken = await takeCommits(options, run.id, commonDir, copy);
    if (!taken.ok) return taken;
  }
  const newest = new Map(copies.flatMap((copy) => aboutOf(copy).map((about) => [about.branch, { copy, about }])));
  for (const { copy, about } of newest.values()) {
    if (copy.by === options.node) continue;
    const moved = await moveBranch(options.workspaces(mode), run, commonDir, about);
    if (!moved.ok) return moved;
  }
  return ok(null);
}

async function takeCommits(
  { share, home }: RunCopiesOptions,
  runId: string,
  repository: string,
  copy: RunCopy,
): Promise<Result<null>> {
  const [about] = aboutOf(copy);
  if (about === undefined) return ok(null);
  const { commit, ref } = about;
  if (await hasCommit(repository, commit)) return setRef(repository, ref, commit);
  const data = await share.loadCopy(runId, copy.name);
  if (data === undefined || data.length === 0)
    return err({
      code: "commits_missing",
      message: `${commit.slice(0, 12)} of ${about.branch} is not in this machine's repository of the project.`,
      hint: "git fetch   there; then: passrail runs retry",
    });
  const folder = join(home, "incoming");
  const made = makeFolders(home, folder, 0o700);
  if (!made.ok) return made;
  const file = join(folder, `copy-${runId}.bundle`);
  try {
    writeFileSync(file, data, { mode: 0o600 });
    return await takeBundle({ repository, ref, commit, file });
  } finally {
    rmSync(file, { force: true });
  }
}

/** What this machine had on the branch is pinned: it is work that never counted. */
async function moveBranch(
  workspaces: Workspaces,
  run: Run,
  repository: string,
  { branch, commit }: AboutCommits,
): Promise<Result<null>> {
  for (const left of (await workspaces.left?.(run.id)) ?? []) {
    if (left.branch !== branch) continue;
    await workspaces.unlock(left);
    const closed = await workspaces.close(left, run.id);
    if (!closed.ok) return closed;
  }
  const ref = `refs/heads/${branch}`;
  const found = await resolveCommits(repository, [ref], inRepository(repository));
  if (!found.ok) return found;
  const old = found.value[0] ?? null;
  if (old === commit) return ok(null);
  if (old !== null) {
    const pinned = await pinCommit(repository, run.id, old);
    return pinned.ok ? setRef(repository, ref, commit) : pinned;
  }
  // Opening makes the branch, and notes that Passrail did.
  const opened = await workspaces.open({
    runId: run.id,
    project: projectOf(run),
    branch,
    base: commit,
    withoutSetup: true,
  });
  if (!opened.ok) return opened;
  const closed = await workspaces.close(opened.value, run.id);
  return closed.ok ? ok(null) : closed;
}
