// The port of a forge, the destination of finished work: a git remote, a repository without a remote, or GitHub. It deals in commits and
// branches, not in runs; every call can be repeated.

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
  /** `note`: a blocker that the work did not cause, such as a check that was cut off. */
  | { readonly state: "open"; readonly note: string | null }
  /** `commit` came into the target; for a squash it differs from the approved one. Proven: it is reachable from the target. */
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
  /**
   * Objects of the repository and of its remote together, in a folder of ours: the `GIT_DIR` in which work is combined with others' commits.
   */
  readonly gitDir: string;
  /** The target if settings name none: the remote's HEAD, else the project's current branch. */
  defaultTarget(): Promise<Result<string>>;
  /** Pushes `commit` as `branch`; forces only over our own earlier push. Without a remote the branch stays as it is. */
  push(work: { readonly branch: string; readonly commit: string }): Promise<Result<null>>;
  /** Opens the request, or finds the open one of this branch and updates it. */
  propose(work: Proposal): Promise<Result<PullRequest>>;
  /** The open request of this branch that proposes the commit; null if there is none. Where there are no requests: the pushed branch. */
  proposed(work: Omit<Proposal, "title" | "body">): Promise<Result<PullRequest | null>>;
  /** Closes the request without a merge; nothing where there are no requests. */
  withdraw(request: PullRequest): Promise<Result<null>>;
  /** Whether work could leave: the remote answers and takes our login. Changes nothing. */
  checkAccess(needs: "push" | "propose"): Promise<Result<null>>;
  look(request: PullRequest): Promise<Result<PullRequestState>>;
  /** Brings `commit` into `target` if that is at `expect`, of which `commit` is a descendant; `target_moved` otherwise. */
  land(work: { readonly commit: string; readonly target: string; readonly expect: string }): Promise<Result<null>>;
  /** Fetches, then checks whether `commit` is reachable from the remote branch. */
  contains(branch: string, commit: string): Promise<Result<boolean>>;
  /** The newest commit of the remote branch, after fetching; null if there is none. */
  head(branch: string): Promise<Result<string | null>>;
  /** Makes sure that the user's repository has the commit, even if it was made or merged elsewhere. */
  keep(commit: string): Promise<Result<null>>;
  /** Removes the remote branch if it is still at `commit`; otherwise does nothing. */
  removeBranch(work: { readonly branch: string; readonly commit: string }): Promise<Result<null>>;
}
