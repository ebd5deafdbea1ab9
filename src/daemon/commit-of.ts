// The commit that a decision about a run is bound to.

import type { ResolvedFlow } from "../core/agent.ts";
import type { Run } from "../core/run.ts";
import { branchOf } from "../engine/branch.ts";
import { projectOf, workspaceMode } from "../engine/run-settings.ts";
import type { Store } from "../store/store.ts";
import { git } from "../workspace/git.ts";

/** Where the run's work stands: its branch in the project, or the project's own state where it works in place. Null without a commit. */
export async function commitOf(store: Pick<Store, "loadFlow">, run: Run): Promise<string | null> {
  const resolved = (await store.loadFlow(run.flowHash)) as ResolvedFlow | undefined;
  if (resolved === undefined) return null;
  const name = workspaceMode(resolved, run) === "worktree" ? `refs/heads/${branchOf(resolved.flow, run)}` : "HEAD";
  const found = await git(projectOf(run), ["rev-parse", "--verify", "--quiet", "--end-of-options", `${name}^{commit}`]);
  const commit = found.ok ? found.value.trim() : "";
  return /^[0-9a-f]{40,64}$/.test(commit) ? commit : null;
}
