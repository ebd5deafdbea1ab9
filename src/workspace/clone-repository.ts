// Makes a clone, and finds its repository again. Everything in a clone belongs to the agent, so each use checks it first and names its
// parts to git explicitly.

import { appendFile, lstat, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { err, ok, type Problem, type Result } from "../core/result.ts";
import { baseMissing, branchInUse, unborn, whereCheckedOut } from "./add-worktree.ts";
import { git, type GitLocation, readConfig, readUserConfig } from "../git/git.ts";
import { rememberCommit } from "../git/known-commits.ts";
import { rememberCheckout } from "../git/known-trees.ts";
import { resolveCommits } from "../git/repository.ts";
import { patiently } from "../git/patiently.ts";
import type { Target } from "./target.ts";
import { lookAt } from "./worktree-folder.ts";

const CLONE_MS = 600_000;

/** Built aside and moved into place in one step, so a clone in place is complete. */
export async function makeClone(target: Target): Promise<Result<null>> {
  const { root, top, key, branch, base, project, repository } = target;
  const taken = await whereCheckedOut(target);
  if (!taken.ok) return taken;
  if (taken.value !== null) return err(branchInUse(target, taken.value));
  const commits = await resolveCommits(project, [`refs/heads/${branch}`, base ?? "HEAD"], { place: repository });
  if (!commits.ok) return commits;
  const start = commits.value[0] ?? commits.value[1];
  if (!start) return err(base === null ? unborn(project) : baseMissing(project, base));
  for (const name of await readdir(root))
    if (name.startsWith(`.making.${key}.`)) await rm(join(root, name), { recursive: true, force: true });
  const aside = await mkdtemp(join(root, `.making.${key}.`));
  try {
    const made = await cloneInto(join(aside, "work"), target, start);
    if (!made.ok) return made;
    const there = await lookAt(top);
    if (!there.ok) return there;
    if (there.value === "empty") await rm(top, { recursive: true });
    await rename(join(aside, "work"), top);
    // Its files have just been checked out.
    const gitDir = join(top, ".git");
    rememberCommit(gitDir, start);
    await rememberCheckout({ gitDir, commonDir: gitDir, top });
    return ok(null);
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

async function cloneInto(dir: string, { root, branch, project, repository }: Target, start: string) {
  // Copied, never linked: a process that can write in the clone must not reach the user's objects. No template: no hooks are copied.
  const how = ["--no-checkout", "--no-hardlinks", "--template=", "--no-recurse-submodules", "--origin=project"];
  const args = ["clone", "--quiet", ...how, "--", repository.commonDir, dir];
  // git removes the folder of a clone that has failed.
  const cloned = await patiently(() => git(root, args, { env: { GIT_ALLOW_PROTOCOL: "file" }, timeoutMs: CLONE_MS }));
  if (!cloned.ok) return cloned;
  const settings = await settingsFrom(project, repository);
  if (!settings.ok) return settings;
  await appendFile(join(dir, ".git", "config"), settings.value);
  const place = { gitDir: join(dir, ".git"), commonDir: join(dir, ".git"), top: dir };
  const input = `option no-deref\nupdate refs/heads/${branch} ${start}\n`;
  const placed = await git(dir, ["update-ref", "--stdin"], { place, input });
  if (!placed.ok) return placed;
  const turned = await git(dir, ["symbolic-ref", "HEAD", `refs/heads/${branch}`], { place });
  if (!turned.ok) return turned;
  const files = await git(dir, ["reset", "--hard", "--quiet"], { place, touchesFiles: true, timeoutMs: CLONE_MS });
  return files.ok ? ok(null) : files;
}

/** The committer and, if it may be reached, the project's remote, as an agent finds them in a worktree. */
export async function settingsFrom(
  project: string,
  place: GitLocation,
  remote: "with remote" | "without remote" = "with remote",
): Promise<Result<string>> {
  const config = await readConfig(project, place);
  if (!config.ok) return config;
  const own = [...(await readUserConfig(project)), ...config.value];
  const last = (key: string) => own.findLast(([name, value]) => name === key && value.trim() !== "")?.[1];
  const user = `[user]\n\tname = ${quoted(last("user.name") ?? "Passrail")}\n\temail = ${quoted(last("user.email") ?? "passrail@localhost")}\n`;
  const origin = last("remote.origin.url");
  if (origin === undefined || remote === "without remote") return ok(user);
  return ok(`${user}[remote "origin"]\n\turl = ${quoted(origin)}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n`);
}

function quoted(value: string): string {
  return `"${value
    .replace(/[\\"]/gu, "\\$&")
    .replace(/\n/gu, "\\n")
    .replace(/\p{Cc}/gu, "")}"`;
}

/** The clone's repository, if it is usable: a real folder that leads nowhere else. */
export async function clonePlace(top: string): Promise<Result<GitLocation>> {
  const there = await lookAt(top);
  if (!there.ok) return there;
  const gitDir = join(top, ".git");
  const found = await lstat(gitDir).catch(() => null);
  if (found === null || !found.isDirectory()) return err(damaged(top, ".git is not a folder"));
  for (const name of ["commondir", join("objects", "info", "alternates")]) {
    if ((await lstat(join(gitDir, name)).catch(() => null)) !== null)
      return err(damaged(top, `.git/${name} leads to another repository`));
  }
  const link = await findLink(gitDir);
  return link === null ? ok({ gitDir, commonDir: gitDir, top }) : err(damaged(top, `${link} is a link`));
}

/** More names than this below refs and logs are not real work. */
const NAMES_AT_MOST = 20_000;

/** A link in the folders that Passrail writes would let an agent redirect a write outside. */
async function findLink(gitDir: string): Promise<string | null> {
  const folders = [gitDir];
  let names = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    const entries = await readdir(folder, { withFileTypes: true });
    names += entries.length;
    if (names > NAMES_AT_MOST) return folder;
    for (const entry of entries) {
      const path = join(folder, entry.name);
      if (entry.isSymbolicLink()) return path;
      const isOurs = folder !== gitDir || WRITTEN.has(entry.name);
      if (entry.isDirectory() && isOurs) folders.push(path);
    }
  }
  return null;
}

/**
 * Folders of a repository that git writes for Passrail. Objects are named by their content, so an agent cannot choose where one is written.
 */
const WRITTEN: ReadonlySet<string> = new Set(["refs", "logs", "info"]);

const damaged = (top: string, why: string): Problem => ({
  code: "workspace_damaged",
  message: `The repository of ${top} cannot be used: ${why}.`,
  hint: `Look at it, then let Passrail make a new one: passrail workspace clean`,
});
