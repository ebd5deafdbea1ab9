// The objects that a sandbox lacks, as a pack in a file. Into an empty one go the files as they are and the last commits: an agent looks back a
// hundred commits at most, and the history of years would travel for every sandbox.

import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { ok, type Result } from "../../../core/result.ts";
import { git, type GitLocation } from "../../../git/git.ts";

/** Commits that the sandbox has, and those of them whose parents it lacks. */
export type There = { readonly commits: readonly string[]; readonly shallow: readonly string[] };

type Tips = { readonly head: string; readonly work: string };

/** `shallow`: commits whose parents are not in the pack. */
export type SentPack = { readonly file: string; readonly shallow: readonly string[] };

export const DEPTH = 100;
const GIT_MS = 600_000;

export async function packFor(
  place: GitLocation,
  own: string,
  { head, work }: Tips,
  there: There,
): Promise<Result<SentPack>> {
  for (const left of await readdir(own)) if (left.startsWith("push-")) await rm(join(own, left), { force: true });
  const known = await commitsHere(place, there);
  if (!known.ok) return known;
  // A history that is cut off here stays cut off there.
  const cut = await readFile(join(place.gitDir, "shallow"), "utf8").catch(() => "");
  const shallow = cut.split("\n").filter((line) => line !== "");
  if (known.value.commits.length === 0) {
    const last = await lastCommits(place, head);
    if (!last.ok) return last;
    shallow.push(...last.value);
  }
  const lines = [
    ...[...shallow, ...known.value.shallow].map((name) => `--shallow ${name}`),
    head,
    work,
    ...known.value.commits.map((name) => `^${name}`),
  ];
  const options = { place, input: `${lines.join("\n")}\n`, timeoutMs: GIT_MS };
  const packed = await git(place.top, ["pack-objects", "-q", "--revs", join(own, "push")], options);
  if (!packed.ok) return packed;
  const name = join(own, `push-${packed.value.trim()}`);
  await rm(`${name}.idx`, { force: true });
  return ok({ file: `${name}.pack`, shallow });
}

/** What a sandbox says that it has may be anything. */
async function commitsHere({ gitDir, commonDir, top }: GitLocation, there: There): Promise<Result<There>> {
  const names = [...new Set([...there.commits, ...there.shallow])];
  if (names.length === 0) return ok(there);
  const options = { place: { gitDir, commonDir, top }, input: `${names.join("\n")}\n` };
  const asked = await git(top, ["cat-file", "--batch-check=%(objectname) %(objecttype)"], options);
  if (!asked.ok) return asked;
  const here = new Set(Array.from(asked.value.matchAll(/^([0-9a-f]+) commit$/gmu), ([, name]) => name));
  const known = (list: readonly string[]): readonly string[] => list.filter((name) => here.has(name));
  return ok({ commits: known(there.commits), shallow: known(there.shallow) });
}

/** The oldest of the last commits, where the history goes on. */
async function lastCommits(place: GitLocation, head: string): Promise<Result<readonly string[]>> {
  const listed = await git(place.top, ["rev-list", "--parents", `--max-count=${DEPTH}`, head], { place });
  if (!listed.ok) return listed;
  const commits = listed.value
    .trim()
    .split("\n")
    .map((line) => line.split(" "));
  const inside = new Set(commits.map(([name]) => name));
  return ok(commits.flatMap(([name = "", ...parents]) => (parents.every((each) => inside.has(each)) ? [] : [name])));
}
