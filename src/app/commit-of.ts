// The commit that a decision about a run is bound to.

import type { ResolvedFlow } from "../core/flow/agent.ts";
import type { Run } from "../core/run/run.ts";
import { branchOf } from "../core/run/branch.ts";
import { projectOf, workspaceMode } from "../core/run/run-settings.ts";
import type { Store } from "../store/store.ts";
import { git } from "../git/git.ts";

/** The head of the run's branch, or the project's HEAD if the run works in place. Null without a commit. */
export async function commitOf(store: Pick<Store, "loadFlow">, run: Run): Promise<string | null> {
  const resolved = await store.loadFlow(run.flowHash);
  if (resolved === undefined) return null;
  const [commit = null] = await commitsAt(projectOf(run), [nameOf(resolved, run)]);
  return commit;
}

/** The same for many callers at once, such as the inbox list: requests of one turn share one git process per project. */
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

/** One answer per name, in the same order. Git prints one line per input line. */
async function commitsAt(project: string, names: readonly string[]): Promise<readonly (string | null)[]> {
  // No ref name contains a control character; here one could end the line.
  const lines = names.map((name) => (/\p{Cc}/u.test(name) ? "" : `${name}^{commit}`));
  const input = lines.map((line) => `${line}\n`).join("");
  const found = await git(project, ["cat-file", "--batch-check=%(objectname)"], { input });
  const answers = found.ok ? found.value.split("\n") : [];
  return names.map((_, at) => {
    const answer = answers[at] ?? "";
    return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(answer) ? answer : null;
  });
}
