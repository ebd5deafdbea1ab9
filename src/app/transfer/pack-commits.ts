// The commits of a run in one file, without the history before the run began, and the repository that is made of it elsewhere. That has no
// remote, no files and no setting of its maker; git checks every object that comes in.

import { appendFile, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { err, ok, type Result } from "../../core/result.ts";
import { checkBranchName } from "../../git/branch-name.ts";
import { git, inRepository } from "../../git/git.ts";
import type { ArchiveHeader } from "./archive.ts";

export type PackedCommits = NonNullable<ArchiveHeader["commits"]>;

const GIT_MS = 600_000;

export type CommitsToPack = {
  /** The common git directory. */
  readonly repository: string;
  readonly branch: string;
  readonly tip: string | null;
  /** Every commit at which an attempt began or ended; the first began the run. */
  readonly commits: readonly string[];
  /** A folder for the pack. */
  readonly folder: string;
};

export async function packCommits({
  repository,
  branch,
  tip,
  commits,
  folder,
}: CommitsToPack): Promise<Result<PackedCommits & { readonly file: string }>> {
  const options = { ...inRepository(repository), timeoutMs: GIT_MS };
  const all = [...new Set([...(tip === null ? [] : [tip]), ...commits])];
  const independent = await git(repository, ["merge-base", "--independent", ...all], options);
  if (!independent.ok) return independent;
  const tips = independent.value.split("\n").filter((line) => line !== "");
  // A repository that is shallow itself ends at its own borders, too.
  const borders = (await readFile(join(repository, "shallow"), "utf8").catch(() => ""))
    .split("\n")
    .filter((line) => line !== "");
  const shallow = [...new Set([...commits.slice(0, 1), ...borders])];
  const input = [...shallow.map((commit) => `--shallow ${commit}`), ...tips, ""].join("\n");
  const args = ["pack-objects", "--revs", "--quiet", "--delta-base-offset", join(folder, "commits")];
  const packed = await git(repository, args, { ...options, input });
  if (!packed.ok) return packed;
  const name = packed.value.trim();
  if (!/^[0-9a-f]{40,64}$/u.test(name)) return err({ code: "export_commits", message: "git packed no commits." });
  const format = tips[0]?.length === 64 ? "sha256" : "sha1";
  return ok({ branch, tip, tips, shallow, format, file: join(folder, `commits-${name}.pack`) });
}

/** Makes the folder. The pack is moved into it. */
export async function unpackCommits(folder: string, pack: string, packed: PackedCommits): Promise<Result<null>> {
  const { tip, tips, shallow, format } = packed;
  const branch = checkBranchName(packed.branch);
  if (!branch.ok) return branch;
  const how = ["--quiet", "--template=", `--object-format=${format}`, `--initial-branch=${branch.value}`];
  const made = await git("/", ["init", ...how, "--", folder], { timeoutMs: GIT_MS });
  if (!made.ok) return made;
  const gitDir = join(folder, ".git");
  const options = { ...inRepository(gitDir), timeoutMs: GIT_MS };
  const own = join(gitDir, "objects", "pack", `pack-${"0".repeat(40)}.pack`);
  await writeFile(join(gitDir, "shallow"), `${shallow.join("\n")}\n`);
  await rename(pack, own);
  const indexed = await git(folder, ["index-pack", "--strict", own], options);
  if (!indexed.ok) return err(refused(indexed.error.message));
  const known = await presentOf(folder, shallow, options);
  if (!known.ok) return known;
  if (known.value.length === 0) await rm(join(gitDir, "shallow"));
  else await writeFile(join(gitDir, "shallow"), `${known.value.join("\n")}\n`);
  const whole = await git(folder, ["rev-list", "--quiet", "--objects", "--stdin"], {
    ...options,
    input: `${tips.join("\n")}\n`,
  });
  if (!whole.ok) return err(refused(whole.error.message));
  const refs = [
    ...(tip === null ? [] : [`create refs/heads/${branch.value} ${tip}`]),
    ...tips.filter((each) => each !== tip).map((each, at) => `create refs/heads/passrail-imported/${at + 1} ${each}`),
  ];
  const named = await git(folder, ["update-ref", "--stdin"], { ...options, input: `${refs.join("\n")}\n` });
  if (!named.ok) return err(refused(named.error.message));
  await appendFile(join(gitDir, "config"), "[gc]\n\tauto = 0\n");
  return ok(null);
}

async function presentOf(
  folder: string,
  commits: readonly string[],
  options: object,
): Promise<Result<readonly string[]>> {
  if (commits.length === 0) return ok([]);
  const input = commits.map((commit) => `${commit}\n`).join("");
  const asked = await git(folder, ["cat-file", "--batch-check"], { ...options, input });
  if (!asked.ok) return asked;
  const lines = asked.value.split("\n");
  return ok(commits.filter((commit, at) => lines[at]?.startsWith(`${commit} commit `) === true));
}

const refused = (why: string) => ({
  code: "import_commits",
  message: `The commits in the file were not taken: ${why.replaceAll("\n", " ").slice(0, 300)}`,
});
