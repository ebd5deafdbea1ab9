// The working state as git would commit it: a copy of the index plus all files that are not ignored. The real index, branch and work tree
// stay unchanged. Diffs and pins are made from it.

import { copyFile, lstat, mkdir, mkdtemp, readdir, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { err, ok, type Result } from "../core/result.ts";
import { git, type GitLocation } from "./git.ts";

export type SnapshotSource = {
  readonly place: GitLocation;
  /** The folder whose files count: the top of the work tree, or the project below it. */
  readonly dir: string;
  /** Where to start: the work tree's own index, or the files of a commit (null: nothing). */
  readonly start: { readonly from: "index" } | { readonly from: "commit"; readonly commit: string | null };
  /** `repository`: new objects stay there. `nowhere`: they vanish with the snapshot, and unreadable files are left out. */
  readonly keep: "repository" | "nowhere";
};

export type Snapshot = {
  /** Environment for the git calls that use it. */
  readonly env: Readonly<Record<string, string>>;
  /** Folders (latin1) that are repositories themselves: their files are not part of the snapshot. */
  readonly nested: readonly string[];
  /** git's message if it could not add everything; null if it could. */
  readonly incomplete: string | null;
};

/** Takes the snapshot, passes it to `use`, and removes its temporary files. */
export async function withSnapshot<T>(
  source: SnapshotSource,
  use: (snapshot: Snapshot) => Promise<Result<T>>,
): Promise<Result<T>> {
  await sweepLeft(tmpdir());
  const folder = await mkdtemp(join(tmpdir(), PREFIX));
  try {
    const snapshot = await take(source, folder);
    return snapshot.ok ? await use(snapshot.value) : snapshot;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const PREFIX = "passrail-index-";
const LEFT_MS = 24 * 3_600_000;
const swept = new Set<string>();

/** A killed process leaves its copy of an index behind. Removed once per process, and only if it is Passrail's and too old to be in use. */
async function sweepLeft(folder: string): Promise<void> {
  if (swept.has(folder)) return;
  swept.add(folder);
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((each) => each.startsWith(PREFIX))) {
    const found = await lstat(join(folder, name)).catch(() => null);
    const isOurs = found?.isDirectory() === true && found.uid === process.getuid?.();
    if (isOurs && found.mtimeMs < Date.now() - LEFT_MS)
      await rm(join(folder, name), { recursive: true, force: true }).catch(() => undefined);
  }
}

async function take(source: SnapshotSource, folder: string): Promise<Result<Snapshot>> {
  const { place, dir } = source;
  const env: Record<string, string> = { GIT_INDEX_FILE: join(folder, "index") };
  if (source.keep === "nowhere") {
    env["GIT_OBJECT_DIRECTORY"] = join(folder, "objects");
    env["GIT_ALTERNATE_OBJECT_DIRECTORIES"] = JSON.stringify(join(place.commonDir, "objects"));
    await mkdir(join(folder, "objects"));
  }
  const begun = await begin(source, env);
  if (!begun.ok) return begun;

  // For a nested repository in the index, `git add` runs `git status` inside it, under its own configuration, whose filters are still on.
  // Outside the index, git only records its HEAD.
  const known = await gitlinks(source, env);
  if (!known.ok) return known;
  const removed = await forget(source, env, known.value);
  if (!removed.ok) return removed;

  const lenient = source.keep === "nowhere" ? ["--ignore-errors"] : [];
  const added = await git(dir, ["add", "--all", ...lenient, "--", "."], { place, env, touchesFiles: true });
  if (!added.ok && (source.keep === "repository" || added.error.code !== "git_failed")) return added;
  const nested = await gitlinks(source, env);
  if (!nested.ok) return nested;
  return ok({ env, nested: nested.value.map((link) => link.path), incomplete: added.ok ? null : added.error.message });
}

async function begin(source: SnapshotSource, env: Readonly<Record<string, string>>): Promise<Result<string>> {
  const { place, start } = source;
  if (start.from === "index") return copyIndex(join(place.gitDir, "index"), env["GIT_INDEX_FILE"] ?? "");
  const args = start.commit === null ? ["read-tree", "--empty"] : ["read-tree", start.commit];
  return git(place.top, args, { place, env, touchesFiles: true });
}

async function copyIndex(from: string, to: string): Promise<Result<string>> {
  const found = await lstat(from).catch(() => null);
  if (found === null) return ok("");
  if (!found.isFile()) return err({ code: "workspace_damaged", message: `${from} is not a regular file.` });
  await copyFile(from, to);
  // git considers a file unchanged when it is older than the index: the copy must not look newer than the original.
  const seconds = Math.floor(found.mtimeMs / 1000);
  await utimes(to, seconds, seconds);
  return ok("");
}

type Gitlink = { readonly path: string; readonly commit: string };

/** Submodules and embedded repositories of the index that are checked out. */
async function gitlinks(source: SnapshotSource, env: Readonly<Record<string, string>>): Promise<Result<Gitlink[]>> {
  const { place } = source;
  const listed = await git(place.top, ["ls-files", "--stage", "-z"], {
    place,
    env,
    encoding: "latin1",
    maxBytes: 512 * 1024 * 1024,
  });
  if (!listed.ok) return listed;
  const links: Gitlink[] = [];
  for (const entry of listed.value.split("\0")) {
    if (!entry.startsWith("160000 ")) continue;
    const path = entry.slice(entry.indexOf("\t") + 1);
    if ((await lstat(Buffer.from(`${place.top}/${path}/.git`, "latin1")).catch(() => null)) === null) continue;
    links.push({ path, commit: entry.slice("160000 ".length).split(" ", 1)[0] ?? "" });
  }
  return ok(links);
}

async function forget(
  source: SnapshotSource,
  env: Readonly<Record<string, string>>,
  links: readonly Gitlink[],
): Promise<Result<string>> {
  if (links.length === 0) return ok("");
  const input = links.map(({ path, commit }) => `0 ${"0".repeat(commit.length)}\t${path}\0`).join("");
  return git(source.place.top, ["update-index", "-z", "--index-info"], {
    place: source.place,
    env,
    touchesFiles: true,
    input,
    encoding: "latin1",
  });
}
