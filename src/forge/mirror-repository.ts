// A bare repository of ours with the objects of the project and of its remote, in which work is combined with others'. The project's
// configuration (hooks, filters, addresses) has no effect here. It is a cache: deleting it loses nothing.

import { createHash } from "node:crypto";
import { mkdir, mkdtemp, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { err, ok, type Result } from "../core/result.ts";
import { checkBranchName } from "../git/branch-name.ts";
import { git, inRepository } from "../git/git.ts";
import { resolveCommits } from "../git/repository.ts";
import { patiently } from "../git/patiently.ts";
import { type Network, remoteGit } from "./network.ts";

export type MirrorRepository = {
  readonly gitDir: string;
  /** Belongs to this repository: the mirror itself and the address of its remote. */
  readonly folder: string;
  isAncestor(older: string, newer: string): Promise<Result<boolean>>;
  /** The commit that we last recorded under this name. */
  noted(ref: string): Promise<Result<string | null>>;
  note(ref: string, commit: string): Promise<Result<null>>;
};

export async function openMirrorRepository(home: string, commonDir: string): Promise<Result<MirrorRepository>> {
  const folder = join(home, "forge", createHash("sha256").update(commonDir).digest("hex").slice(0, 16));
  // The name on disk is that of version 0.1: the folder also remembers which commits we pushed.
  const gitDir = join(folder, "courier.git");
  const made = await make(folder, gitDir, commonDir);
  if (!made.ok) return made;
  return ok({
    gitDir,
    folder,
    isAncestor: (older, newer) => isAncestor(gitDir, older, newer),
    async noted(ref) {
      const found = await resolveCommits(gitDir, [`refs/passrail/${ref}`], inRepository(gitDir));
      return found.ok ? ok(found.value[0] ?? null) : found;
    },
    async note(ref, commit) {
      const written = await git(
        gitDir,
        ["update-ref", "--no-deref", `refs/passrail/${ref}`, commit],
        inRepository(gitDir),
      );
      return written.ok ? ok(null) : written;
    },
  });
}

const making = new Map<string, Promise<Result<null>>>();

/** Concurrent first callers wait for the same creation. */
async function make(folder: string, gitDir: string, commonDir: string): Promise<Result<null>> {
  if (await isWhole(gitDir)) return ok(null);
  const made = making.get(gitDir) ?? makeAside(folder, gitDir, commonDir).finally(() => making.delete(gitDir));
  making.set(gitDir, made);
  return made;
}

/** After a crash the mirror is complete or missing. Another process may create it too; the first one wins. */
async function makeAside(folder: string, gitDir: string, commonDir: string): Promise<Result<null>> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const aside = await mkdtemp(join(folder, "draft-"));
  const draft = join(aside, "courier.git");
  try {
    const format = await git(commonDir, ["rev-parse", "--show-object-format"], inRepository(commonDir));
    if (!format.ok) return format;
    const form = `--object-format=${format.value.trim()}`;
    const made = await git(folder, ["init", "--quiet", "--bare", "--template=", form, draft]);
    if (!made.ok) return made;
    await mkdir(join(draft, "objects", "info"), { recursive: true });
    await writeFile(join(draft, "objects", "info", "alternates"), `${join(commonDir, "objects")}\n`, { flush: true });
    if (await isWhole(gitDir)) return ok(null);
    await rm(gitDir, { recursive: true, force: true });
    await rename(draft, gitDir).catch(async (error: unknown) => {
      if (!(await isWhole(gitDir))) throw error;
    });
    return ok(null);
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
}

/** The file that is written last; a repository must also have a head. */
async function isWhole(gitDir: string): Promise<boolean> {
  const found = await Promise.all(
    ["objects/info/alternates", "HEAD"].map((name) => stat(join(gitDir, name)).catch(() => null)),
  );
  return found.every((each) => each !== null);
}

export async function isAncestor(gitDir: string, older: string, newer: string): Promise<Result<boolean>> {
  const found = await resolveCommits(gitDir, [older, newer], inRepository(gitDir));
  if (!found.ok) return found;
  if (found.value[0] !== older || found.value[1] !== newer) return ok(false);
  const asked = await git(gitDir, ["merge-base", "--is-ancestor", older, newer], inRepository(gitDir));
  return ok(asked.ok);
}

/** Fetches the newest commit of a remote branch; null if there is none. */
export async function fetchBranch(
  mirror: MirrorRepository,
  network: Network,
  address: string,
  branch: string,
): Promise<Result<string | null>> {
  const checked = checkBranchName(branch);
  if (!checked.ok) return checked;
  const listed = await remoteGit(network, mirror.gitDir, ["ls-remote", "--", address, `refs/heads/${branch}`]);
  if (!listed.ok) return listed;
  const found = listed.value
    .split("\n")
    .map((line) => /^([0-9a-f]{40,64})\t(.+)$/u.exec(line))
    .find((line) => line?.[2] === `refs/heads/${branch}`);
  const commit = found?.[1];
  if (commit === undefined) return ok(null);
  const spec = `+refs/heads/${branch}:refs/passrail/remote/${branch}`;
  const options = ["--no-tags", "--no-write-fetch-head", "--no-recurse-submodules", "--quiet"];
  const fetched = await patiently(() => remoteGit(network, mirror.gitDir, ["fetch", ...options, "--", address, spec]));
  if (!fetched.ok) return fetched;
  const now = await mirror.noted(`remote/${branch}`);
  if (!now.ok) return now;
  return now.value === null
    ? err({ code: "remote_moved", message: `The branch ${branch} went away while it was fetched.` })
    : now;
}
