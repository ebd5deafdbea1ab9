// The port of a forge: where finished work goes. A plain git remote, a repository without a remote, GitHub. It knows commits and
// branches, nothing of runs; every call can be repeated.

import type { Issue } from "../core/outcome.ts";
import type { Result } from "../core/result.ts";

export type PullRequest = {
  /** The forge's own number; null where a branch is only pushed for a person to merge. */
  readonly number: number | null;
  readonly url: string | null;
  readonly branch: string;
  readonly target: string;
  /** The commit that was approved. */
  readonly commit: string;
};

export type PullRequestState =
  | { readonly state: "open" }
  /** `commit` is what came into the target; for a squash it is another than the approved one. */
  | { readonly state: "merged"; readonly commit: string }
  | { readonly state: "closed"; readonly reason: string }
  /** CI failed or a reviewer asked for changes: the findings with the real excerpt of the log. */
  | { readonly state: "revise"; readonly issues: readonly Issue[]; readonly summary: string; readonly key: string };

export interface Forge {
  readonly name: "local" | "remote" | "github";
  /** Pushes `commit` as `branch`, never by force unless the remote branch is an ancestor or our own earlier push. */
  push(work: { readonly branch: string; readonly commit: string }): Promise<Result<null>>;
  /** Opens the request, or finds the open one of this branch and updates it. */
  propose(work: {
    readonly branch: string;
    readonly commit: string;
    readonly target: string;
    readonly title: string;
    readonly body: string;
  }): Promise<Result<PullRequest>>;
  look(request: PullRequest): Promise<Result<PullRequestState>>;
  /** Brings `commit` into `target` if it is a fast-forward of what the target is now; `target_moved` otherwise. */
  land(work: { readonly commit: string; readonly target: string; readonly expect: string }): Promise<Result<null>>;
  /** Fetches and tells whether `commit` is reachable from the branch there. */
  contains(branch: string, commit: string): Promise<Result<boolean>>;
  /** The newest commit of a branch there, after fetching; null where there is none. */
  head(branch: string): Promise<Result<string | null>>;
}
