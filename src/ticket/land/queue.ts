// The merge queue: for each repository and target, one piece of work at a time is combined with the newest target, checked, and landed. A
// chain in one process is enough, because only the holder of the engine lock lands work. Every step can be repeated after a crash: the
// commit is recorded before it lands, and one that is already in the target is noticed first.

import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { err, ok, type Problem, type Result } from "../../core/result.ts";
import type { Forge } from "../../forge/forge.ts";
import { git, inRepository, readConfig } from "../../git/git.ts";
import { resolveCommits } from "../../git/repository.ts";
import type { DoneSight } from "../../core/run/outward-act.ts";
import type { Acting } from "./act.ts";
import type { CheckResult } from "../../core/flow/check-result.ts";
import type { MergeCheck } from "./checks.ts";
import { lookFor, sightOf } from "./sight.ts";

export type QueuedWork = {
  readonly runId: string;
  readonly branch: string;
  /** The approved commit. */
  readonly commit: string;
  readonly target: string;
};

export type QueueOptions = {
  readonly forge: Forge;
  /** The user's repository, for the committer's name. */
  readonly project: string;
  readonly strategy: "rebase" | "merge";
  /** Folder for our work trees. */
  readonly folder: string;
  readonly act: Acting;
  /** Commits that earlier attempts of this run may have landed. */
  readonly tried: readonly string[];
  /** On the merged tree. */
  readonly check: (dir: string, commit: string) => Promise<Result<MergeCheck>>;
};

export type Landing =
  | {
      readonly type: "landed";
      readonly commit: string;
      readonly how: "already" | "fast-forward" | "rebase" | "merge";
      readonly checks: readonly CheckResult[];
    }
  | { readonly type: "conflict"; readonly files: readonly string[] }
  | ({ readonly type: "failed-check"; readonly checks: readonly CheckResult[] } & Pick<
      Extract<MergeCheck, { type: "failed" }>,
      "command" | "why" | "excerpt"
    >);

const TRIES = 5;

export async function landWork(work: QueuedWork, options: QueueOptions): Promise<Result<Landing>> {
  const { forge } = options;
  for (let attempt = 1; ; attempt++) {
    const expect = await forge.head(work.target);
    if (!expect.ok) return expect;
    if (expect.value === null) return err(noTargetBranch(work.target));
    const landed = await alreadyLanded(work, options, expect.value);
    if (!landed.ok) return landed;
    if (landed.value !== null) return ok({ type: "landed", commit: landed.value, how: "already", checks: [] });
    const tried = await withTree<Landing>(work, options, expect.value, async (dir, made) => {
      if ("conflict" in made) return ok({ type: "conflict", files: made.conflict });
      if (made.commit === expect.value) return ok({ type: "landed", commit: made.commit, how: "already", checks: [] });
      const found = await options.check(dir, made.commit);
      if (!found.ok) return found;
      const checked = found.value;
      if (checked.type === "failed") {
        const { command, why, excerpt, results: checks } = checked;
        return ok({ type: "failed-check", command, why, excerpt, checks });
      }
      const noted = await note(forge, work.runId, made.commit);
      if (!noted.ok) return noted;
      const moved = await move(work, options, made.commit, expect.value ?? "");
      if (!moved.ok) return moved;
      return ok({ type: "landed", commit: made.commit, how: made.how, checks: checked.results });
    });
    if (tried.ok || tried.error.code !== "target_moved" || attempt >= TRIES) return tried;
  }
}

/** The act itself: the target moves from `before` to `commit`. */
function move(
  work: QueuedWork,
  { act, forge }: QueueOptions,
  commit: string,
  before: string,
): Promise<Result<DoneSight>> {
  const { branch, target } = work;
  const intent = { verb: "merge", branch, target, commit, before } as const;
  return act({
    intent,
    async send() {
      const moved = await forge.land({ commit, target, expect: before });
      return moved.ok ? ok(sightOf(commit)) : moved;
    },
    look: () => lookFor(forge, intent),
    sightOf: (sight) => sight,
  });
}

/** The approved commit itself, or the one that an earlier try of this run made from it. */
async function alreadyLanded(
  work: QueuedWork,
  { forge, tried }: QueueOptions,
  head: string,
): Promise<Result<string | null>> {
  const here = inRepository(forge.gitDir);
  const found = await resolveCommits(forge.gitDir, [work.commit, landingRef(work.runId), ...tried], here);
  if (!found.ok) return found;
  if (found.value[0] === null || found.value[0] === undefined) return err(commitMissing(work.commit));
  for (const commit of found.value) {
    if (commit == null) continue;
    const reached = await git(forge.gitDir, ["merge-base", "--is-ancestor", commit, head], here);
    if (reached.ok) return ok(commit);
  }
  return ok(null);
}

type Made =
  | { readonly commit: string; readonly how: "fast-forward" | "rebase" | "merge" }
  | { readonly conflict: readonly string[] };

/** A work tree with the work on top of the target, for the duration of `use`. */
async function withTree<T>(
  work: QueuedWork,
  options: QueueOptions,
  head: string,
  use: (dir: string, made: Made) => Promise<Result<T>>,
): Promise<Result<T>> {
  const { gitDir } = options.forge;
  const here = inRepository(gitDir);
  const dir = join(options.folder, work.runId);
  await mkdir(options.folder, { recursive: true, mode: 0o700 });
  const remove = async (): Promise<void> => {
    await rm(dir, { recursive: true, force: true });
    await git(gitDir, ["worktree", "prune"], here);
  };
  // The remains of an earlier try after a crash.
  await remove();
  try {
    const added = await git(gitDir, ["worktree", "add", "--quiet", "--detach", "--force", dir, work.commit], here);
    if (!added.ok) return added;
    const made = await putOnTop(work, options, dir, head);
    return made.ok ? await use(dir, made.value) : made;
  } finally {
    await remove();
  }
}

async function putOnTop(work: QueuedWork, options: QueueOptions, dir: string, head: string): Promise<Result<Made>> {
  const ahead = await git(dir, ["merge-base", "--is-ancestor", head, work.commit]);
  if (ahead.ok) return ok({ commit: work.commit, how: "fast-forward" });
  const merges = await git(dir, ["rev-list", "--merges", "--max-count=1", `${head}..${work.commit}`]);
  if (!merges.ok) return merges;
  // A rebase would flatten merges in the work, and their conflicts would have to be resolved again.
  const how = options.strategy === "merge" || merges.value.trim() !== "" ? "merge" : "rebase";
  const env = await committer(options.project);
  const done =
    how === "rebase"
      ? await git(dir, ["rebase", "--quiet", "--no-autostash", "--no-verify", head], { env: onlyCommitter(env) })
      : await mergeInto(work, dir, head, env);
  if (!done.ok) {
    const unmerged = await git(dir, ["diff", "--name-only", "--diff-filter=U", "-z"]);
    const files = unmerged.ok ? unmerged.value.split("\0").filter((name) => name !== "") : [];
    return files.length === 0 ? done : ok({ conflict: files });
  }
  const now = await resolveCommits(dir, ["HEAD"]);
  if (!now.ok) return now;
  const [commit] = now.value;
  return commit === undefined || commit === null ? err(commitMissing("HEAD")) : ok({ commit, how });
}

async function mergeInto(
  work: QueuedWork,
  dir: string,
  head: string,
  env: Record<string, string>,
): Promise<Result<string>> {
  const back = await git(dir, ["checkout", "--quiet", "--detach", head]);
  if (!back.ok) return back;
  const message = `Merge ${work.branch} into ${work.target}`;
  return git(dir, ["merge", "--quiet", "--no-ff", "--no-verify", "--no-edit", "-m", message, work.commit], { env });
}

/** Authors stay the same; the committer is the project's own user. */
async function committer(project: string): Promise<Record<string, string>> {
  const config = await readConfig(project);
  const last = (key: string): string | undefined =>
    config.ok ? config.value.findLast(([name, value]) => name === key && value.trim() !== "")?.[1] : undefined;
  const name = last("user.name") ?? "Passrail";
  const email = last("user.email") ?? "passrail@localhost";
  return { GIT_COMMITTER_NAME: name, GIT_COMMITTER_EMAIL: email, GIT_AUTHOR_NAME: name, GIT_AUTHOR_EMAIL: email };
}

const onlyCommitter = (env: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(env).filter(([name]) => name.startsWith("GIT_COMMITTER")));

const landingRef = (runId: string): string => `refs/passrail/landing/${runId}`;

async function note(forge: Forge, runId: string, commit: string): Promise<Result<null>> {
  const written = await git(
    forge.gitDir,
    ["update-ref", "--no-deref", landingRef(runId), commit],
    inRepository(forge.gitDir),
  );
  return written.ok ? ok(null) : written;
}

function noTargetBranch(target: string): Problem {
  return {
    code: "target_missing",
    message: `There is no branch ${target} to land in.`,
    hint: "Make it, or name another one in passrail.yaml: merge: { target: main }",
  };
}

function commitMissing(commit: string): Problem {
  return { code: "commit_missing", message: `The commit ${commit} is not in this repository.` };
}
