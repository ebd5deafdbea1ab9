// Which tree a work tree shows, and what differs from it. A check's result belongs to exactly one tree.

import { relative } from "node:path";
import { err, ok, type Result } from "../core/result.ts";
import { git, type GitLocation } from "./git.ts";
import { readFacts } from "./pin.ts";
import { resolveCommits } from "./repository.ts";

export type TreeState = {
  readonly top: string;
  readonly commit: string;
  readonly tree: string;
  /** Tracked files that differ from the commit. */
  readonly changed: readonly string[];
  /** Whether there are files that are neither tracked nor ignored. */
  readonly hasUntracked: boolean;
};

export async function treeState(place: GitLocation): Promise<Result<TreeState>> {
  const [named, status] = await Promise.all([
    headAndTree(place),
    git(
      place.top,
      ["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=normal", "--ignore-submodules=all"],
      { place, touchesFiles: true, maxBytes: 8 * 1024 * 1024, overflow: "cut" },
    ),
  ]);
  if (!named.ok) return named;
  if (!status.ok) return status;
  const { commit, tree } = named.value;
  const entries = status.value.split("\0").filter((entry) => entry.length > 3);
  const changed = entries.filter((entry) => !entry.startsWith("??")).map((entry) => entry.slice(3));
  return ok({ top: place.top, commit, tree, changed, hasUntracked: changed.length < entries.length });
}

async function headAndTree(place: GitLocation): Promise<Result<{ readonly commit: string; readonly tree: string }>> {
  const found = await resolveCommits(place.top, ["HEAD"], { place });
  if (!found.ok) return found;
  const [commit] = found.value;
  if (!commit) return err({ code: "unborn_head", message: `${place.top} has no commit yet.` });
  const facts = await readFacts(place, commit);
  return facts.ok ? ok({ commit, tree: facts.value.tree }) : facts;
}

/** Puts tracked files back as they are in the current commit. Files that are not tracked stay. */
export async function restoreTracked(place: GitLocation): Promise<Result<null>> {
  return goBackTo(place, "HEAD");
}

/** Moves the checked-out branch and its files back to an earlier commit. The caller has pinned the later one. */
export async function goBackTo(place: GitLocation, commit: string): Promise<Result<null>> {
  const back = await git(place.top, ["reset", "--hard", "--quiet", commit], {
    place,
    touchesFiles: true,
  });
  return back.ok ? ok(null) : back;
}

/** The number of lines of each file of a commit; null for a path that is no file there. `dir`: the folder that the paths are relative to. */
export async function linesInCommit(
  place: GitLocation,
  dir: string,
  { commit, paths }: { readonly commit: string; readonly paths: readonly string[] },
): Promise<Result<readonly (number | null)[]>> {
  const asked = await filesInCommit(place, dir, { commit, paths });
  return asked.ok ? ok(asked.value.map((body) => (body === null ? null : countLines(body)))) : asked;
}

/** The text of one file of a commit. */
export async function fileInCommit(
  place: GitLocation,
  dir: string,
  { commit, path }: { readonly commit: string; readonly path: string },
): Promise<Result<string | null>> {
  const asked = await filesInCommit(place, dir, { commit, paths: [path] });
  if (!asked.ok) return asked;
  const [body = null] = asked.value;
  return ok(body === null ? null : Buffer.from(body, "latin1").toString("utf8"));
}

/** Their bytes, one character each. */
async function filesInCommit(
  place: GitLocation,
  dir: string,
  { commit, paths }: { readonly commit: string; readonly paths: readonly string[] },
): Promise<Result<readonly (string | null)[]>> {
  if (paths.length === 0) return ok([]);
  if (paths.some((path) => /[\0\n]/u.test(path))) throw new Error("A path holds a line break.");
  const prefix = relative(place.top, dir);
  const input = paths.map((path) => `${commit}:${prefix === "" ? "" : `${prefix}/`}${path}\n`).join("");
  const asked = await git(place.top, ["cat-file", "--batch"], {
    place,
    input,
    encoding: "latin1",
    maxBytes: FILES_BYTES,
  });
  return asked.ok ? ok(bodiesOfBatch(asked.value, paths.length)) : asked;
}

const FILES_BYTES = 64 * 1024 * 1024;

/** `<id> blob <size>`, the content and a line break for each file; one line that ends with "missing" for any other name. */
function bodiesOfBatch(text: string, count: number): readonly (string | null)[] {
  const bodies: (string | null)[] = [];
  let at = 0;
  while (bodies.length < count && at < text.length) {
    const end = text.indexOf("\n", at);
    const head = /^[0-9a-f]{40,64} (\w+) (\d+)$/u.exec(text.slice(at, end === -1 ? undefined : end));
    if (head === null || end === -1) {
      bodies.push(null);
      at = end === -1 ? text.length : end + 1;
      continue;
    }
    const body = text.slice(end + 1, end + 1 + Number(head[2]));
    bodies.push(head[1] === "blob" ? body : null);
    at = end + 1 + Number(head[2]) + 1;
  }
  return Array.from({ length: count }, (_, index) => bodies[index] ?? null);
}

function countLines(body: string): number {
  let count = body === "" || body.endsWith("\n") ? 0 : 1;
  for (let at = body.indexOf("\n"); at !== -1; at = body.indexOf("\n", at + 1)) count += 1;
  return count;
}
