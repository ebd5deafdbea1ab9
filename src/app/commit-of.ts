// The commit that a decision about a run is bound to.

import { realpath } from "node:fs/promises";
import type { ResolvedFlow } from "../core/flow/agent.ts";
import type { Run } from "../core/run/run.ts";
import { branchOf } from "../core/run/branch.ts";
import { jointOf } from "../core/run/joint.ts";
import { projectOf, workspaceMode } from "../core/run/run-settings.ts";
import type { Store } from "../store/store.ts";
import { jointHead } from "../git/joint-head.ts";
import { ASK_GIT } from "../git/plain-file.ts";
import { findPlainRepository } from "../git/plain-repository.ts";
import { resolveCommits } from "../git/repository.ts";

/** The head of the run's branch, or the project's HEAD if the run works in place. Null without a commit. */
export async function commitOf(store: Pick<Store, "loadFlow">, run: Run): Promise<string | null> {
  const resolved = await store.loadFlow(run.flowHash);
  if (resolved === undefined) return null;
  const joint = jointOf(run);
  if (joint !== null) return jointHead(joint, projectOf(run), branchOf(resolved.flow, run));
  const [commit = null] = await commitsAt(projectOf(run), [nameOf(resolved, run)]);
  return commit;
}

/** The same for many callers at once, such as the inbox list: requests of one turn share at most one git process per project. */
export function createCommitOf(store: Pick<Store, "loadFlow">): (run: Run) => Promise<string | null> {
  const asked = new Map<string, Asked[]>();
  function ask(project: string): void {
    const all = asked.get(project) ?? [];
    asked.delete(project);
    commitsAt(
      project,
      all.map(({ name }) => name),
    ).then(
      (commits) => all.forEach(({ resolve }, at) => resolve(commits[at] ?? null)),
      (error: unknown) => all.forEach(({ reject }) => reject(error)),
    );
  }

  return async (run) => {
    const resolved = await store.loadFlow(run.flowHash);
    if (resolved === undefined) return null;
    const project = projectOf(run);
    const joint = jointOf(run);
    if (joint !== null) return jointHead(joint, project, branchOf(resolved.flow, run));
    return new Promise((resolve, reject) => {
      const one: Asked = { name: nameOf(resolved, run), resolve, reject };
      const others = asked.get(project);
      if (others !== undefined) return void others.push(one);
      asked.set(project, [one]);
      setImmediate(ask, project);
    });
  };
}

type Asked = {
  readonly name: string;
  readonly resolve: (commit: string | null) => void;
  readonly reject: (error: unknown) => void;
};

function nameOf(resolved: ResolvedFlow, run: Run): string {
  return workspaceMode(resolved, run) !== "in-place" ? `refs/heads/${branchOf(resolved.flow, run)}` : "HEAD";
}

/** One answer per name, in the same order. Branches in plain files, at commits that git has shown before, take no process. */
async function commitsAt(project: string, names: readonly string[]): Promise<readonly (string | null)[]> {
  const folder = await realpath(project).catch(() => null);
  if (folder === null) return names.map(() => null);
  const plain = findPlainRepository(folder);
  const options = plain === ASK_GIT ? {} : { place: { ...plain, commonDir: plain.gitDir } };
  // No ref name contains a control character; here one could end the line.
  const asked = names.map((name) => (/\p{Cc}/u.test(name) ? "" : name));
  const found = await resolveCommits(folder, asked, options);
  return found.ok ? found.value : names.map(() => null);
}
