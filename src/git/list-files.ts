// What differs between an index and the files of a work tree, as git lists it, and the repositories among them.

import { lstat } from "node:fs/promises";
import { ok, type Result } from "../core/result.ts";
import { git, type GitLocation } from "./git.ts";
import type { IndexEntry } from "./index-entries.ts";
import { GITLINK } from "./index-file.ts";
import { ASK_GIT, type AskGit } from "./plain-file.ts";

export type ListedPlace = {
  readonly place: GitLocation;
  /** The folder whose files count. */
  readonly dir: string;
};

type Env = Readonly<Record<string, string>>;

const LIST_BYTES = 512 * 1024 * 1024;

export type Gitlink = { readonly path: string; readonly commit: string };

export type ListedFiles = {
  /** Submodules and embedded repositories of the index that are checked out. */
  readonly links: readonly Gitlink[];
  /** New, changed and deleted files below the folder, as paths below it; nothing for `git add` to do if there is none. */
  readonly changed: readonly string[];
  readonly hasConflict: boolean;
};

/**
 * One process where the folder is the top: its paths are then those of the index. It names the files of the index too, unless that could be
 * read here: then none of them is in a conflict.
 */
export async function listFiles(
  source: ListedPlace,
  env: Env,
  entries: readonly IndexEntry[] | AskGit,
): Promise<Result<ListedFiles>> {
  const { place, dir } = source;
  const files = ["--others", "--modified", "--exclude-standard"];
  if (dir === place.top && entries !== ASK_GIT) {
    const listed = await lsFiles(source, dir, [...files, "-z", "--", "."], env);
    if (!listed.ok) return listed;
    const links = await checkedOut(place, entries.flatMap(asGitlink));
    return ok({ links, changed: listed.value, hasConflict: false });
  }
  if (dir === place.top) {
    const listed = await lsFiles(source, dir, ["-t", "--stage", ...files, "-z", "--", "."], env);
    if (!listed.ok) return listed;
    const entries = listed.value.map((entry) => ({ tag: entry.slice(0, 2), rest: entry.slice(2) }));
    const staged = entries.filter(({ tag }) => tag !== "? ").map(({ rest }) => rest);
    const changed = entries.flatMap(({ tag, rest }) => (tag === "? " ? [rest] : tag === "C " ? [pathOf(rest)] : []));
    const links = await checkedOut(place, staged.flatMap(gitlinkIn));
    return ok({ links, changed, hasConflict: staged.some(isConflict) });
  }
  const staged = await lsFiles(source, place.top, ["--stage", "-z"], env);
  if (!staged.ok) return staged;
  const changed = await lsFiles(source, dir, [...files, "-z", "--", "."], env);
  if (!changed.ok) return changed;
  const links = await checkedOut(place, staged.value.flatMap(gitlinkIn));
  return ok({ links, changed: changed.value, hasConflict: staged.value.some(isConflict) });
}

/** Repositories among all the files of an index. */
export async function listNested({ place }: Pick<ListedPlace, "place">, env: Env): Promise<Result<readonly Gitlink[]>> {
  const staged = await lsFiles({ place }, place.top, ["--stage", "-z"], env);
  return staged.ok ? ok(await checkedOut(place, staged.value.flatMap(gitlinkIn))) : staged;
}

async function lsFiles(
  { place }: Pick<ListedPlace, "place">,
  dir: string,
  args: readonly string[],
  env: Env,
): Promise<Result<readonly string[]>> {
  const options = { place, env, touchesFiles: true, encoding: "latin1", maxBytes: LIST_BYTES } as const;
  const listed = await git(dir, ["ls-files", ...args], options);
  return listed.ok ? ok(listed.value.split("\0").filter((entry) => entry !== "")) : listed;
}

/** `100644 <id> <stage>` TAB path */
const pathOf = (entry: string): string => entry.slice(entry.indexOf("\t") + 1);
const isConflict = (entry: string): boolean => /^\d+ [0-9a-f]+ [1-9]\t/u.test(entry);

function gitlinkIn(entry: string): readonly Gitlink[] {
  if (!entry.startsWith("160000 ")) return [];
  return [{ path: pathOf(entry), commit: entry.slice("160000 ".length).split(" ", 1)[0] ?? "" }];
}

function asGitlink({ path, mode, id }: IndexEntry): readonly Gitlink[] {
  return mode === GITLINK ? [{ path, commit: id.toString("hex") }] : [];
}

async function checkedOut(place: GitLocation, named: readonly Gitlink[]): Promise<readonly Gitlink[]> {
  const links = new Map<string, Gitlink>();
  for (const link of named) {
    if ((await lstat(Buffer.from(`${place.top}/${link.path}/.git`, "latin1")).catch(() => null)) === null) continue;
    links.set(link.path, link);
  }
  return [...links.values()];
}
