// Where a replay works: a state folder of its own with copies of the run's records, and a copy of its repository without any remote. Neither
// the run, nor the project's branches, nor a server can be reached from it by accident.

import { appendFile, cp, lstat, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { isConfining, type WorkspaceMode } from "../../core/flow/workspace-mode.ts";
import { err, ok, type Problem, type Result } from "../../core/result.ts";
import { checkBranchName } from "../../git/branch-name.ts";
import { git, inRepository } from "../../git/git.ts";
import { findProject, findRepository, type Repository, resolveCommits } from "../../git/repository.ts";
import { settingsFrom } from "../../workspace/clone-repository.ts";
import { nameOf, type TapedAttempt } from "./find-taped.ts";

export type ReplayPlace = {
  /** Its state folder. */
  readonly home: string;
  /** The project in the copy of the repository. */
  readonly project: string;
  /** The branch of the attempt does not exist, and its folder is not there: as before it began. */
  prepare(attempt: TapedAttempt): Promise<Result<null>>;
  /** The recorded files of the attempt are there again, for those that follow. */
  settle(attempt: TapedAttempt): Promise<void>;
  close(): Promise<void>;
};

const CLONE_MS = 600_000;

export async function openReplayPlace(
  stateFolder: string,
  project: string,
  attempts: readonly TapedAttempt[],
  mode: WorkspaceMode,
): Promise<Result<ReplayPlace>> {
  const found = await findProject(project);
  if (!found.ok) return found;
  const repository = await findRepository(found.value);
  if (!repository.ok) return repository;
  const missing = await missingCommits(found.value, repository.value, attempts);
  if (missing !== undefined) return err(missing);
  const root = join(stateFolder, "replays");
  await sweep(root);
  await mkdir(root, { recursive: true, mode: 0o700 });
  const home = await mkdtemp(join(root, `${process.pid}-`));
  const close = (): Promise<void> => rm(home, { recursive: true, force: true });
  try {
    const copy = join(home, "repository");
    const cloned = await cloneQuietly(found.value, repository.value, copy, mode);
    if (!cloned.ok) {
      await close();
      return cloned;
    }
    const runId = attempts[0]?.record.runId ?? "";
    const [from, to] = [join(stateFolder, "runs", runId), join(home, "runs", runId)];
    await copyRecords(from, to);
    return ok({
      home,
      project: join(copy, repository.value.prefix),
      prepare: (attempt) => prepare(copy, to, attempt),
      async settle({ record: { stage, attempt } }) {
        const folder = `${stage}-${attempt}`;
        await rm(join(to, folder), { recursive: true, force: true });
        await copyRecords(join(from, folder), join(to, folder));
      },
      close,
    });
  } catch (error) {
    await close();
    throw error;
  }
}

async function missingCommits(
  project: string,
  place: Repository,
  attempts: readonly TapedAttempt[],
): Promise<Problem | undefined> {
  const commits = await resolveCommits(
    project,
    attempts.map(({ from }) => from),
    { place },
  );
  if (!commits.ok) return commits.error;
  const gone = attempts.filter((_, at) => commits.value[at] === null);
  if (gone.length === 0) return undefined;
  const list = gone.map(({ record, from }) => `${nameOf(record)} began at ${from.slice(0, 12)}`).join("; ");
  return {
    code: "replay_commit_missing",
    message: `${project} has not the commits that the run worked on: ${list}.`,
    hint: "Call it in a repository that has them.",
  };
}

/** Another process' place goes with that process. */
async function sweep(root: string): Promise<void> {
  for (const name of await readdir(root).catch(() => [])) {
    const pid = Number(/^(\d+)-/u.exec(name)?.[1]);
    if (Number.isSafeInteger(pid) && pid > 0 && !isAlive(pid))
      await rm(join(root, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** A sandbox shows its program one folder, so its copy has all objects; otherwise it borrows them. */
async function cloneQuietly(
  project: string,
  { commonDir, gitDir, top }: Repository,
  dir: string,
  mode: WorkspaceMode,
): Promise<Result<null>> {
  const objects = isConfining(mode) ? "--no-hardlinks" : "--shared";
  const how = ["--no-checkout", objects, "--template=", "--no-recurse-submodules", "--origin=project"];
  const cloned = await git(project, ["clone", "--quiet", ...how, "--", commonDir, dir], {
    env: { GIT_ALLOW_PROTOCOL: "file" },
    timeoutMs: CLONE_MS,
  });
  if (!cloned.ok) return cloned;
  const own = inRepository(join(dir, ".git"));
  // Nothing can be pushed from a repository without a remote.
  const removed = await git(dir, ["remote", "remove", "project"], own);
  if (!removed.ok) return removed;
  const refs = ["for-each-ref", "--format=update %(refname) %(objectname)", "refs/heads"];
  const heads = await git(project, refs, inRepository(commonDir));
  if (!heads.ok) return heads;
  const written = await git(dir, ["update-ref", "--stdin"], { ...own, input: heads.value });
  if (!written.ok) return written;
  const settings = await settingsFrom(project, { commonDir, gitDir, top }, "without remote");
  if (!settings.ok) return settings;
  await appendFile(join(dir, ".git", "config"), settings.value);
  return ok(null);
}

async function prepare(copy: string, records: string, { record, facts, from }: TapedAttempt): Promise<Result<null>> {
  await rm(join(records, `${record.stage}-${record.attempt}`), { recursive: true, force: true });
  const branch = checkBranchName(facts.branch ?? `passrail/${record.runId}`);
  if (!branch.ok) return branch;
  const own = inRepository(join(copy, ".git"));
  // Its own work tree stays out of the way of the branch.
  const detached = await git(copy, ["update-ref", "--no-deref", "HEAD", from], own);
  if (!detached.ok) return detached;
  const removed = await git(copy, ["update-ref", "-d", `refs/heads/${branch.value}`], own);
  return removed.ok ? ok(null) : removed;
}

/** Plain files alone; tapes stay where they are. */
async function copyRecords(from: string, to: string): Promise<void> {
  if ((await lstat(from).catch(() => null))?.isDirectory() !== true) return;
  await cp(from, to, {
    recursive: true,
    filter: async (path) => {
      const found = await lstat(path);
      return (found.isFile() || found.isDirectory()) && !path.endsWith("/tape.jsonl.zst");
    },
  });
}
