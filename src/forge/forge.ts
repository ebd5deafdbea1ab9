// The port of a forge: where finished work goes. A plain git remote, a repository without a remote, GitHub. It knows commits and
// branches, nothing of runs; every call can be repeated.

import type { Issue } from "../core/flow/outcome.ts";
import type { Result } from "../core/result.ts";

export type PullRequest = {
  /** The forge's own number; null where a branch only waits for a person to merge it. */
  readonly number: number | null;
  readonly url: string | null;
  readonly branch: string;
  readonly target: string;
  /** The commit that was approved. */
  readonly commit: string;
};

export type PullRequestState =
  /** `note`: what keeps it from going on and is nobody's work, such as a check that was cut off. */
  | { readonly state: "open"; readonly note: string | null }
  /** `commit` is what came into the target; for a squash it is another than the approved one. Proven: it is reachable from the target. */
  | { readonly state: "merged"; readonly commit: string }
  | { readonly state: "closed"; readonly reason: string }
  /** CI failed or a reviewer asked for changes: the findings with the real excerpt of the log. The same findings have the same key. */
  | { readonly state: "revise"; readonly issues: readonly Issue[]; readonly summary: string; readonly key: string };

export type Proposal = {
  readonly branch: string;
  readonly commit: string;
  readonly target: string;
  readonly title: string;
  readonly body: string;
};

export interface Forge {
  readonly name: "local" | "remote" | "github";
  /** Objects of the repository and of its remote together, in a folder of our own: the `GIT_DIR` in which work is put on top of others'. */
  readonly gitDir: string;
  /** Where work goes where settings name nothing: what the remote's HEAD names, else the branch that the project is on. */
  defaultTarget(): Promise<Result<string>>;
  /** Pushes `commit` as `branch`, never by force unless what is there is our own earlier push. Where there is no remote the branch stays as it is. */
  push(work: { readonly branch: string; readonly commit: string }): Promise<Result<null>>;
  /** Opens the request, or finds the open one of this branch and updates it. */
  propose(work: Proposal): Promise<Result<PullRequest>>;
  look(request: PullRequest): Promise<Result<PullRequestState>>;
  /** Brings `commit` into `target` if that is at `expect`, of which `commit` is a descendant; `target_moved` otherwise. */
  land(work: { readonly commit: string; readonly target: string; readonly expect: string }): Promise<Result<null>>;
  /** Fetches and tells whether `commit` is reachable from the branch there. */
  contains(branch: string, commit: string): Promise<Result<boolean>>;
  /** The newest commit of a branch there, after fetching; null where there is none. */
  head(branch: string): Promise<Result<string | null>>;
  /** Makes sure that the user's repository has the commit, also when it was made or merged elsewhere. */
  keep(commit: string): Promise<Result<null>>;
  /** Removes the branch there if it is still at `commit`; where it moved or is gone nothing happens. */
  removeBranch(work: { readonly branch: string; readonly commit: string }): Promise<Result<null>>;
}
