// The joint repository of a run over several repositories: made once from the commits where the run begins, in the state folder. Workspaces
// of all kinds open on it as on any project. After each attempt every member gets its part as a branch of its own.

import { appendFile, mkdir, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { err, ok, type Problem, type Result } from "../core/result.ts";
import { type Joint, type Member, memberName, type MemberTip, splitRef } from "../core/run/joint.ts";
import { git, type GitLocation, inRepository } from "../git/git.ts";
import { ignoreLines, type JointRange, namesBeside, splitHistory } from "../git/split-history.ts";
import { findProject, findRepository, type Repository, resolveCommits } from "../git/repository.ts";
import { bringBack } from "./bring-back.ts";
import { settingsFrom } from "./clone-repository.ts";
import { lookAt, openRoot } from "./worktree-folder.ts";

const FETCH_MS = 600_000;
const BASE = "refs/heads/base";

/** Built aside and moved into place in one step, so that a joint repository in place is complete. */
export async function openJoint(joint: Joint, project: string): Promise<Result<null>> {
  const root = await openRoot(dirname(joint.folder));
  if (!root.ok) return root;
  const there = await lookAt(joint.folder);
  if (!there.ok) return there;
  if (there.value === "filled") return ok(null);
  const name = basename(joint.folder);
  for (const left of await readdir(root.value))
    if (left.startsWith(`.making.${name}.`)) await rm(join(root.value, left), { recursive: true, force: true });
  const aside = await mkdtemp(join(root.value, `.making.${name}.`));
  try {
    const made = await make(join(aside, "work"), joint.members, project);
    if (!made.ok) return made;
    await rm(joint.folder, { recursive: true, force: true });
    await rename(join(aside, "work"), joint.folder);
    return ok(null);
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

async function make(dir: string, members: readonly Member[], project: string): Promise<Result<null>> {
  await mkdir(dir, { mode: 0o700 });
  const started = await git(dir, ["init", "--quiet", "--template=", "--initial-branch=base", dir]);
  if (!started.ok) return started;
  const gitDir = join(dir, ".git");
  const found: Repository[] = [];
  for (const [index, { dir: folder, commit }] of members.entries()) {
    const repository = await findMember(project, folder);
    if (!repository.ok) return repository;
    const fetched = await fetchInto(gitDir, repository.value.commonDir, commit, index);
    if (!fetched.ok) return fetched;
    found.push(repository.value);
  }
  const [first] = found;
  if (first === undefined) return err({ code: "no_repository", message: "The run names no repository." });
  const settings = await settingsFrom(first.top, first);
  if (!settings.ok) return settings;
  // No remote: nothing of the joint repository goes anywhere by itself.
  await appendFile(join(gitDir, "config"), settings.value.split("[remote")[0] ?? "");
  const tree = await jointTree(gitDir, join(dirname(dir), "index"), members);
  if (!tree.ok) return tree;
  const parents = members.flatMap(({ commit }) => ["-p", commit]);
  const message = `Begin with ${members.map(({ dir: folder }) => memberName(folder)).join(", ")}`;
  const env = { ...inRepository(gitDir).env, ...US };
  const made = await git(gitDir, ["commit-tree", tree.value, ...parents, "-m", message], { env });
  if (!made.ok) return made;
  const commit = made.value.trim();
  const lines = [`create ${BASE} ${commit}`, `create ${JOINT_BASE} ${commit}`].map((line) => `${line}\n`).join("");
  const named = await git(gitDir, ["update-ref", "--no-deref", "--stdin"], { ...inRepository(gitDir), input: lines });
  return named.ok ? ok(null) : named;
}

const JOINT_BASE = "refs/passrail/joint/base";

const US = {
  GIT_AUTHOR_NAME: "Passrail",
  GIT_AUTHOR_EMAIL: "passrail@localhost",
  GIT_COMMITTER_NAME: "Passrail",
  GIT_COMMITTER_EMAIL: "passrail@localhost",
};

async function fetchInto(gitDir: string, from: string, commit: string, index: number): Promise<Result<string>> {
  const quiet = ["--quiet", "--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--no-auto-maintenance"];
  const env = { ...inRepository(gitDir).env, GIT_ALLOW_PROTOCOL: "file" };
  const spec = `+${commit}:refs/passrail/joint/${index}`;
  return git(gitDir, ["fetch", ...quiet, "--update-shallow", "--", from, spec], { env, timeoutMs: FETCH_MS });
}

/** The project's own files, if it is a member, and every other member in its folder. */
async function jointTree(gitDir: string, index: string, members: readonly Member[]): Promise<Result<string>> {
  const options = { env: { ...inRepository(gitDir).env, GIT_INDEX_FILE: index } };
  const own = members.find(({ dir }) => dir === ".");
  const others = members.filter(({ dir }) => dir !== ".");
  const begun = await git(gitDir, ["read-tree", ...(own === undefined ? ["--empty"] : [own.commit])], options);
  if (!begun.ok) return begun;
  if (own !== undefined) {
    const opened = await openIgnored(
      gitDir,
      own.commit,
      others.map(({ dir }) => dir),
      options,
    );
    if (!opened.ok) return opened;
  }
  for (const { dir, commit } of others) {
    const added = await git(gitDir, ["read-tree", `--prefix=${dir}/`, commit], options);
    if (!added.ok) return added;
  }
  const written = await git(gitDir, ["write-tree"], options);
  return written.ok ? ok(written.value.trim()) : written;
}

async function openIgnored(
  gitDir: string,
  commit: string,
  dirs: readonly string[],
  options: { readonly env: Readonly<Record<string, string>> },
): Promise<Result<null>> {
  const bytes = { ...options, encoding: "latin1" } as const;
  const listed = await git(gitDir, ["ls-tree", "-z", commit, "--", ".gitignore"], bytes);
  if (!listed.ok) return listed;
  const [, mode, id] = /^(100\d{3}) blob ([0-9a-f]+)\t/u.exec(listed.value) ?? [];
  if (mode === undefined || id === undefined) return ok(null);
  const text = await git(gitDir, ["cat-file", "blob", id], bytes);
  if (!text.ok) return text;
  const lines = Buffer.from(ignoreLines(dirs)).toString("latin1");
  const input = `${text.value}${text.value.endsWith("\n") || text.value === "" ? "" : "\n"}${lines}`;
  const made = await git(gitDir, ["hash-object", "-w", "--stdin"], { ...bytes, input });
  if (!made.ok) return made;
  const info = `${mode} ${made.value.trim()}\t.gitignore\n`;
  const placed = await git(gitDir, ["update-index", "--add", "--index-info"], { ...options, input: info });
  return placed.ok ? ok(null) : placed;
}

export type JointBranch = { readonly branch: string; readonly runId: string };

/** Moves each member's branch to its part of the joint branch. Members without a change get none. */
export async function publishJoint(
  joint: Joint,
  project: string,
  { branch, runId }: JointBranch,
): Promise<Result<readonly MemberTip[]>> {
  const parts = await splitJoint(joint, `refs/heads/${branch}`);
  if (!parts.ok) return parts;
  const gitDir = join(joint.folder, ".git");
  const place: GitLocation = { gitDir, commonDir: gitDir, top: joint.folder };
  const tips: MemberTip[] = [];
  for (const [index, { dir, commit: begin }] of joint.members.entries()) {
    const commit = parts.value[index] ?? begin;
    const known = await resolveCommits(gitDir, [splitRef(index)], inRepository(gitDir));
    if (!known.ok) return known;
    if (commit === begin && (known.value[0] ?? null) === null) continue;
    const noted = await git(gitDir, ["update-ref", "--no-deref", splitRef(index), commit], inRepository(gitDir));
    if (!noted.ok) return noted;
    const member = await findMember(project, dir);
    if (!member.ok) return member;
    const repository = member.value.commonDir;
    const brought = await bringBack({ place, key: runId, repository, branch, runId, ref: splitRef(index) }, []);
    if (!brought.ok) return err({ ...brought.error, message: `${memberName(dir)}: ${brought.error.message}` });
    tips.push({ dir, branch, commit });
  }
  return ok(tips);
}

/** Each member's commit for a commit of the joint history, in their order. */
export async function splitJoint(joint: Joint, revision: string): Promise<Result<readonly string[]>> {
  const range = await rangeOf(joint, revision);
  if (!range.ok) return range;
  const dirs = joint.members.map(({ dir }) => dir);
  const stray = dirs.includes(".") ? ok([]) : await namesBeside(range.value.gitDir, range.value.tip, dirs);
  if (!stray.ok) return stray;
  if (stray.value.length > 0) return err(besideAll(stray.value));
  const commits: string[] = [];
  for (const { dir, commit } of joint.members) {
    const others = dirs.filter((other) => other !== dir && other !== ".");
    const split = await splitHistory(range.value, { dir, commit, others });
    if (!split.ok) return split;
    commits.push(split.value);
  }
  return ok(commits);
}

/** The first commit must be the one of these members: an agent can write in the repository that its worktree belongs to. */
async function rangeOf({ folder, members }: Joint, revision: string): Promise<Result<JointRange>> {
  const gitDir = join(folder, ".git");
  const here = inRepository(gitDir);
  const found = await resolveCommits(gitDir, [JOINT_BASE, revision], here);
  if (!found.ok) return found;
  const [base = null, tip = null] = found.value;
  if (base === null || tip === null) return err(noJoint(folder, base === null ? JOINT_BASE : revision));
  const shown = await git(gitDir, ["rev-list", "--parents", "--max-count=1", base, "--"], here);
  if (!shown.ok) return shown;
  const expected = [...new Set([base, ...members.map(({ commit }) => commit)])].join(" ");
  return shown.value.trim() === expected ? ok({ gitDir, base, tip }) : err(noJoint(folder, JOINT_BASE));
}

async function findMember(project: string, dir: string): Promise<Result<Repository>> {
  const found = await findProject(join(project, dir));
  if (!found.ok) return found;
  const repository = await findRepository(found.value);
  if (!repository.ok) return repository;
  return repository.value.prefix === ""
    ? repository
    : err({ code: "repository_gone", message: `${found.value} is not the top of a repository any more.` });
}

function besideAll(names: readonly string[]): Problem {
  const shown = names.slice(0, 5).map((name) => name.replaceAll(/\p{Cc}/gu, "?").slice(0, 100));
  return {
    code: "outside_repositories",
    message: `The work has files that are in none of its repositories: ${shown.join(", ")}. Nothing would keep them.`,
    hint: "Move them into one of the repositories, or make the project's folder a repository before the run starts.",
  };
}

const noJoint = (folder: string, name: string): Problem => ({
  code: "joint_damaged",
  message: `The joint repository ${folder} has no usable ${name}.`,
});
