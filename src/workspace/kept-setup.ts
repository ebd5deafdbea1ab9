// What setup commands made, such as installed packages, is kept under a hash of all that it follows from, lockfiles first, and copied into the next
// fresh workspace instead of running them. It is kept only where nothing but the project's own commits were set up: what an agent changed on a
// branch must not reach another run.

import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { lstat, mkdir, mkdtemp, readdir, realpath, rename, rm, stat, utimes } from "node:fs/promises";
import { delimiter, isAbsolute, join } from "node:path";
import { promisify } from "node:util";
import { readConfinedBytes } from "../file/confined.ts";
import { git, type GitLocation } from "../git/git.ts";
import { resolveCommits } from "../git/repository.ts";
import type { WorkspaceSettings } from "../settings/workspaces.ts";
import { isBelow } from "./copy-files.ts";
import type { Workspace } from "./workspace.ts";

export type KeptSetup = {
  /** Whether everything was there; then no command need run. */
  take(): Promise<boolean>;
  keep(): Promise<void>;
};

export type SetupPlace = {
  /** The state folder. */
  readonly home: string;
  readonly settings: WorkspaceSettings;
  readonly project: string;
  readonly workspace: Workspace;
  readonly checkout: GitLocation;
  readonly path: string;
};

const FILE_BYTES = 64 * 1024 * 1024;
/** For one project; those that were used last stay. */
const KEPT_AT_MOST = 5;
const COPY_MS = 10 * 60_000;
const MAKING = ".making-";
/** Longer than any copy takes. */
const LEFT_MS = 24 * 60 * 60_000;

/** Undefined where nothing can be kept: no settings for it, or the workspace's files are on another machine. */
export async function keptSetup(place: SetupPlace): Promise<KeptSetup | undefined> {
  const { home, settings, project, workspace } = place;
  const { setup_cache: cache } = settings;
  if (cache === undefined || workspace.mode === "daytona" || workspace.mode === "in-place") return undefined;
  const root = join(home, "setup-cache", hashOf(await realpath(project)).slice(0, 12));
  const kept = join(root, await keyOf(place, cache.key));
  const targets = cache.folders.map((folder) => join(workspace.dir, folder));
  return {
    async take() {
      if (!(await isFolder(kept))) return false;
      for (const target of targets) if (!(await isFree(workspace.dir, target))) return false;
      try {
        for (const [index, target] of targets.entries()) await copy(join(kept, String(index)), target);
      } catch {
        // The commands begin with what they find, as they do after a crash.
        for (const target of targets) await rm(target, { recursive: true, force: true });
        return false;
      }
      const now = new Date();
      await utimes(kept, now, now);
      return true;
    },
    async keep() {
      if ((await isFolder(kept)) || !(await isProjects(place))) return;
      await mkdir(root, { recursive: true, mode: 0o700 });
      const aside = await mkdtemp(join(root, MAKING));
      try {
        for (const [index, target] of targets.entries()) {
          if (!(await isFolder(target)) || !(await isBelow(workspace.dir, target))) return;
          await copy(target, join(aside, String(index)));
        }
        await rename(aside, kept);
        await forgetOld(root);
      } catch {
        // A full disk, or another process was first: the next fresh workspace runs the commands.
      } finally {
        await rm(aside, { recursive: true, force: true });
      }
    },
  };
}

async function keyOf({ settings, workspace, path }: SetupPlace, files: readonly string[]): Promise<string> {
  const { setup = [], setup_cache: cache, docker, bubblewrap } = settings;
  const { mode, dir } = workspace;
  const inside = mode === "docker" || mode === "podman" ? docker : mode === "bubblewrap" ? bubblewrap : undefined;
  const contents = files.map((file) => {
    const read = readConfinedBytes(dir, join(dir, file), FILE_BYTES);
    return [file, read.ok && read.value !== undefined ? hashOf(read.value) : null];
  });
  // An image has its own.
  const names = inside === docker && docker !== undefined ? [] : ["node", ...setup.map(([name = ""]) => name)];
  const programs = await Promise.all(names.map((name) => programOf(name, path)));
  const { platform, arch } = process;
  return hashOf(JSON.stringify([1, mode, inside ?? null, setup, cache?.folders, contents, programs, platform, arch]));
}

/** Another version of a program may make other files. */
async function programOf(name: string, path: string): Promise<readonly (string | number)[]> {
  for (const folder of path.split(delimiter).filter(isAbsolute)) {
    const real = await realpath(join(folder, name)).catch(() => null);
    if (real === null) continue;
    const { size, mtimeMs } = await stat(real);
    return [real, size, mtimeMs];
  }
  return [name];
}

/** Whether the workspace shows a commit of the project's own, with nothing on top. */
async function isProjects({ project, checkout }: SetupPlace): Promise<boolean> {
  const heads = await resolveCommits(checkout.top, ["HEAD"], { place: checkout });
  const own = await git(project, ["rev-parse", "--verify", "HEAD^{commit}"]);
  const head = heads.ok ? heads.value[0] : null;
  if (head === null || head === undefined || !own.ok) return false;
  const args = ["merge-base", "--is-ancestor", head, own.value.trim()];
  const asked = await git(checkout.top, args, { place: checkout, exits: [0, 1] });
  return asked.ok && asked.value.startsWith("0");
}

async function isFolder(path: string): Promise<boolean> {
  return (await lstat(path).catch(() => null))?.isDirectory() === true;
}

/** Nothing is there, and no link leads out of the workspace on the way. */
async function isFree(dir: string, target: string): Promise<boolean> {
  return (await lstat(target).catch(() => null)) === null && (await isBelow(dir, target));
}

/** Links stay links; where the file system can share blocks, a copy takes no room. Shared files would be the agent's to change. */
async function copy(from: string, to: string): Promise<void> {
  await mkdir(join(to, ".."), { recursive: true });
  const cheap = process.platform === "linux" ? ["--reflink=auto"] : [];
  await promisify(execFile)("cp", ["-a", ...cheap, "--", from, to], { timeout: COPY_MS, killSignal: "SIGKILL" });
}

async function forgetOld(root: string): Promise<void> {
  const all = await readdir(root);
  // Of a process that was killed while it copied.
  for (const name of all.filter((each) => each.startsWith(MAKING))) {
    const left = await stat(join(root, name)).catch(() => null);
    if (left !== null && Date.now() - left.mtimeMs > LEFT_MS)
      await rm(join(root, name), { recursive: true, force: true });
  }
  const names = all.filter((name) => /^[0-9a-f]{64}$/u.test(name));
  const used = await Promise.all(names.map(async (name) => ({ name, at: (await stat(join(root, name))).mtimeMs })));
  for (const { name } of used.toSorted((one, other) => other.at - one.at).slice(KEPT_AT_MOST))
    await rm(join(root, name), { recursive: true, force: true });
}

function hashOf(bytes: string | Buffer): string {
  return createHash("sha256").update(bytes).digest("hex");
}
