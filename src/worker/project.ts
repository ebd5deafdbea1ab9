// The repository of a project on a worker: the one that its operator named, or a clone that the worker keeps. Its commits come from the
// node, so the worker needs no access to the project's remote.

import { existsSync, mkdirSync, rmSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import type { WorkerOrder } from "../claim/messages.ts";
import { err, ok, type Result } from "../core/result.ts";
import { hasCommit, setRef, takeBundle } from "../git/carried-commits.ts";
import { git, inRepository } from "../git/git.ts";
import { findProject, findRepository, type Repository, resolveCommits } from "../git/repository.ts";
import type { Workspaces } from "../workspace/workspace.ts";
import type { NodeLink } from "./node-link.ts";

export type ProjectsOptions = {
  readonly home: string;
  /** Repositories of this machine, by the id of their project. */
  readonly mapped: ReadonlyMap<string, string>;
  readonly link: Pick<NodeLink, "fetchCommits">;
  readonly log: (line: string) => void;
};

/** What is needed of an order to find its repository. */
export type ProjectOrder = Pick<WorkerOrder, "project"> & {
  readonly start: Pick<WorkerOrder["start"], "commit">;
  readonly job: { readonly run: { readonly id: string } };
};

export type Projects = {
  /** The project's folder, in a repository that has the commit of the order. */
  open(claim: string, order: ProjectOrder, signal: AbortSignal): Promise<Result<OpenedProject>>;
};

export type OpenedProject = { readonly folder: string; readonly repository: Repository };

/** `ready`: the clones that this process has made or looked at, with who commits there. */
type Opening = ProjectsOptions & { readonly ready: Map<string, string> };

export function createProjects(given: ProjectsOptions): Projects {
  const options: Opening = { ...given, ready: new Map() };
  const turns = new Map<string, Promise<unknown>>();
  return {
    open(claim, order, signal) {
      const { id } = order.project;
      const before = turns.get(id) ?? Promise.resolve();
      const opened = before.then(() => open(options, claim, order, signal));
      turns.set(
        id,
        opened.catch(() => undefined),
      );
      return opened;
    },
  };
}

async function open(
  options: Opening,
  claim: string,
  order: ProjectOrder,
  signal: AbortSignal,
): Promise<Result<OpenedProject>> {
  const folder = options.mapped.get(order.project.id) ?? (await managed(options, order));
  const found = await findProject(folder);
  const repository = found.ok ? await findRepository(found.value) : found;
  if (!found.ok || !repository.ok) return repository.ok ? err(NOT_FOUND) : repository;
  const { commonDir } = repository.value;
  if (!(await hasCommit(commonDir, order.start.commit))) {
    const fetched = await fetchInto(options, commonDir, claim, order, signal);
    if (!fetched.ok) return fetched;
  }
  // Nothing else may name it here, and it must not be collected while a run builds on it.
  const kept = await setRef(commonDir, `refs/passrail/base/${order.job.run.id}`, order.start.commit);
  return kept.ok ? ok({ folder: found.value, repository: repository.value }) : kept;
}

const NOT_FOUND = { code: "project_missing", message: "The project's folder is not there." };

async function managed({ home, log, ready }: Opening, { project }: ProjectOrder): Promise<string> {
  const top = join(home, "projects", project.id);
  const folder = join(top, project.prefix);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const state = JSON.stringify(project.committer);
  if (ready.get(top) === state && existsSync(join(top, ".git", "HEAD"))) return folder;
  if (!(await git(top, ["rev-parse", "--git-dir"], { env: { GIT_CEILING_DIRECTORIES: join(home, "projects") } })).ok) {
    const made = await git(top, ["init", "--quiet", "--template=", "--", top]);
    if (!made.ok) throw new Error(made.error.message);
    log(`project ${project.id}: keeping a clone in ${top}; another one is used with --project ${project.id}=PATH`);
  }
  const { name, email } = project.committer;
  for (const [key, value] of [
    ["user.name", name],
    ["user.email", email],
  ] as const)
    await git(top, ["config", "--local", key, value]);
  ready.set(top, state);
  return folder;
}

async function fetchInto(
  { home, link }: ProjectsOptions,
  repository: string,
  claim: string,
  { start }: ProjectOrder,
  signal: AbortSignal,
): Promise<Result<null>> {
  const folder = await mkdtemp(join(home, "incoming-"));
  try {
    const file = join(folder, "work.bundle");
    const fetched = await untilFetched(link, claim, await tipsOf(repository), file, signal);
    if (!fetched.ok) return fetched;
    const ref = `refs/passrail/outgoing/${claim}`;
    const taken = await takeBundle({ repository, ref, commit: start.commit, file });
    if (taken.ok) await setRef(repository, ref, null);
    return taken;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const FETCH_AGAIN_MS = 300;

/** As long as the claim is good: the node may die meanwhile, and the next one adopts the claim before it sends anything. */
async function untilFetched(
  link: ProjectsOptions["link"],
  claim: string,
  tips: readonly string[],
  file: string,
  signal: AbortSignal,
): Promise<Result<null>> {
  while (!signal.aborted) {
    const fetched = await link.fetchCommits(claim, tips, file, signal);
    if (fetched !== "later") return fetched;
    await delay(FETCH_AGAIN_MS, undefined, { signal }).catch(() => undefined);
  }
  return err({ code: "commits_missing", message: `The commits did not arrive in time: ${String(signal.reason)}` });
}

const TIPS = 400;

/** Newest first: commits that the worker has need not be sent. */
async function tipsOf(repository: string): Promise<readonly string[]> {
  const args = ["for-each-ref", `--count=${TIPS}`, "--sort=-committerdate", "--format=%(objecttype) %(objectname)"];
  const listed = await git(repository, args, inRepository(repository));
  const lines = listed.ok ? listed.value.split("\n") : [];
  return [...new Set(lines.flatMap((line) => (line.startsWith("commit ") ? [line.slice("commit ".length)] : [])))];
}

/** A branch of the same name that an earlier attempt left here: removed where its commit is kept under another name. */
export async function clearBranch(
  workspaces: Workspaces,
  { commonDir }: Repository,
  { job, start }: WorkerOrder,
): Promise<Result<null>> {
  for (const left of (await workspaces.left?.(job.run.id)) ?? []) {
    if ((left.key ?? job.run.id) !== start.key) continue;
    await workspaces.unlock(left);
    const closed = await workspaces.close(left, job.run.id);
    if (!closed.ok) return closed;
  }
  const ref = `refs/heads/${start.branch}`;
  const found = await resolveCommits(commonDir, [ref], inRepository(commonDir));
  if (!found.ok) return found;
  const tip = found.value[0];
  if (!tip) return ok(null);
  const args = ["for-each-ref", "--count=1", `--contains=${tip}`, "refs/passrail"];
  const kept = await git(commonDir, args, inRepository(commonDir));
  // Otherwise it is the user's own, and opening the workspace reports that.
  return kept.ok && kept.value.trim() !== "" ? setRef(commonDir, ref, null) : ok(null);
}
