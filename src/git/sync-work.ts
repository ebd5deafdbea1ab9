// git leaves new objects to the kernel, which writes them up to half a minute later. A handoff is on the disk before it counts, and so must be
// the commits that it names: a power cut would otherwise leave a handoff and a branch whose work is gone.

import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { err, ok, type Result } from "../core/result.ts";
import { git, type GitLocation } from "./git.ts";
import { isStoredLoose, looseFile } from "./loose-object.ts";
import { FOLDER, readTree, type TreeItem } from "./loose-tree.ts";
import { GITLINK } from "./index-file.ts";
import { readPlainCommit } from "./plain-commit.ts";
import { ASK_GIT, type AskGit, isBelowFolders } from "./plain-file.ts";

export type NewWork = {
  readonly tip: string;
  /** Was on the disk before; null: nothing was. */
  readonly since: string | null;
  /** The full name of the ref that names it now. */
  readonly ref?: string;
};

const COMMITS_AT_MOST = 100;
const LIST_BYTES = 256 * 1024 * 1024;
const LANES = 8;
const REMEMBERED_AT_MOST = 1000;

/** Commits with all that they hold. */
const synced = new Set<string>();

/** What is packed needs nothing: git syncs packs. */
export async function syncWork(place: GitLocation, { tip, since, ref }: NewWork): Promise<Result<null>> {
  const { commonDir } = place;
  const refs = ref === undefined || isBelowFolders(commonDir, dirname(ref).split("/")) !== true ? [] : [ref];
  if (tip === since || synced.has(`${commonDir}\0${tip}`)) return syncAll(refs.map((name) => join(commonDir, name)));
  const found = looseSince(commonDir, tip, since);
  const ids = found === ASK_GIT ? await listed(place, tip, since) : ok(found);
  if (!ids.ok) return ids;
  const done = await syncAll(ids.value.map((id) => looseFile(commonDir, id)));
  if (!done.ok) return done;
  // The objects first: a ref that is on the disk names what is there.
  const named = await syncAll(refs.map((name) => join(commonDir, name)));
  if (named.ok) remember(`${commonDir}\0${tip}`);
  return named;
}

function remember(commit: string): void {
  const [oldest] = synced;
  if (synced.size >= REMEMBERED_AT_MOST && oldest !== undefined) synced.delete(oldest);
  synced.add(commit);
}

/** Of a few commits in one line: the objects that are files of their own. Anything unusual is for git. */
export function looseSince(commonDir: string, tip: string, since: string | null): readonly string[] | AskGit {
  const ids = new Set<string>();
  let commit: string | undefined = tip;
  for (let count = 0; commit !== undefined && commit !== since; count++) {
    if (!isStoredLoose(commonDir, commit)) return [...ids];
    const facts = readPlainCommit(commonDir, commit);
    if (facts === ASK_GIT || facts.parents.length > 1 || count === COMMITS_AT_MOST) return ASK_GIT;
    ids.add(commit);
    const [parent] = facts.parents;
    const before = parent === undefined ? ASK_GIT : readPlainCommit(commonDir, parent);
    const trees = { tree: idOf(facts.tree), before: before === ASK_GIT ? null : idOf(before.tree) };
    if (!collect(commonDir, trees, ids)) return ASK_GIT;
    commit = parent;
  }
  return [...ids];
}

const idOf = (hex: string): Buffer => Buffer.from(hex, "hex");

type Trees = { readonly tree: Buffer; readonly before: Buffer | null };

/** What a tree has beyond the one before it; false if only git can tell. */
function collect(commonDir: string, { tree, before }: Trees, ids: Set<string>): boolean {
  const id = tree.toString("hex");
  if (before?.equals(tree) === true || ids.has(id) || !isStoredLoose(commonDir, id)) return true;
  const items = readTree(commonDir, tree);
  if (items === ASK_GIT) return false;
  ids.add(id);
  const earlier = before === null ? ASK_GIT : readTree(commonDir, before);
  const known: ReadonlyMap<string, TreeItem> = earlier === ASK_GIT ? new Map() : earlier;
  for (const [name, item] of items) {
    const old = known.get(name);
    if (item.mode === GITLINK || old?.id.equals(item.id) === true) continue;
    if (item.mode !== FOLDER) {
      if (isStoredLoose(commonDir, item.id.toString("hex"))) ids.add(item.id.toString("hex"));
    } else if (!collect(commonDir, { tree: item.id, before: old?.mode === FOLDER ? old.id : null }, ids)) return false;
  }
  return true;
}

/** With the packed ones. */
async function listed(place: GitLocation, tip: string, since: string | null): Promise<Result<readonly string[]>> {
  const range = since === null ? [tip] : [tip, `^${since}`];
  const args = ["rev-list", "--objects", "--no-object-names", "--missing=allow-any", ...range, "--"];
  const found = await git(place.top, args, { place, maxBytes: LIST_BYTES });
  return found.ok ? ok(found.value.split("\n").filter((line) => line !== "")) : found;
}

async function syncAll(paths: readonly string[]): Promise<Result<null>> {
  const waiting = [...paths];
  const lane = async (): Promise<void> => {
    for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) await syncFile(path);
  };
  try {
    await Promise.all(Array.from({ length: Math.min(LANES, paths.length) }, lane));
    return ok(null);
  } catch (error) {
    return err({
      code: "work_not_on_disk",
      message: `The disk did not confirm the work: ${(error as Error).message}`,
      hint: "Look at the disk and its file system, then try the stage again.",
    });
  }
}

/** One that is not there is packed by now. */
async function syncFile(path: string): Promise<void> {
  const { O_RDONLY, O_NOFOLLOW, O_NONBLOCK } = constants;
  const file = await open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
    throw error;
  });
  if (file === null) return;
  try {
    await file.sync();
  } finally {
    await file.close();
  }
}
