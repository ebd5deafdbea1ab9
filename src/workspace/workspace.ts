// The port of every workspace: where an attempt works. Opening is idempotent (a crash may repeat it), closing never loses work:
// a branch is pinned under refs/passrail/keep/ before anything is removed.

import type { Result } from "../core/result.ts";
import type { WorkspaceMode } from "../core/flow/workspace-mode.ts";

export type WorkspaceRequest = {
  readonly runId: string;
  /** Names the workspace where a run has more than one, such as one per stage; default: the run's id. */
  readonly key?: string;
  /** The user's repository or folder (absolute). */
  readonly project: string;
  /** Branch to work on; checked against the allow-list. Only for git workspaces; default there: `passrail/<runId>`. */
  readonly branch?: string;
  /** Where a new branch starts; default: the project's HEAD commit. An existing branch is taken as it is. */
  readonly base?: string;
  /** Commits that the branch must contain before anything works on it: the work of tickets that this one depends on. */
  readonly contains?: readonly string[];
  /** For the programs that set a fresh workspace up: by their mark they are found again after a crash. */
  readonly env?: Readonly<Record<string, string>>;
  /** Ends the setting up. */
  readonly signal?: AbortSignal;
};

export type Workspace = {
  readonly mode: WorkspaceMode;
  /** The request's key. */
  readonly key?: string;
  readonly dir: string;
  readonly branch?: string;
  /** The repository's common git directory: closing must find it when the workspace itself is gone. Set by git workspaces. */
  readonly repository?: string;
  /** Held while an attempt works here: two attempts that share a key never run at once. */
  readonly lockKeys: readonly string[];
  /** For every program that works here: its ports, the shared caches. */
  readonly env?: Readonly<Record<string, string>>;
  /** Folders outside of it that every program here may write: the shared caches. */
  readonly folders?: readonly string[];
};

export type Closed = {
  /** The name of the ref that keeps the work. */
  readonly pinned: string | null;
  /** The commit that was made of what lay uncommitted; null when everything was committed. */
  readonly leftover: string | null;
};

/** How a program is started: what a confining workspace changes. */
export type Launch = {
  /** Begins with the absolute path of the program on this machine, also in the answer: nothing is looked up on a PATH any more. */
  readonly argv: readonly [string, ...string[]];
  /** The program as the operator named it, for places that have programs of their own. */
  readonly program: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Folders besides the workspace that the program may write: its verdict, its own configuration. */
  readonly folders: readonly string[];
};

export interface Workspaces {
  readonly mode: Workspace["mode"];
  /** Whether such workspaces can be had on this machine; asked before a run is stored. Absent: always. */
  readonly check?: () => Promise<Result<null>>;
  open(request: WorkspaceRequest): Promise<Result<Workspace>>;
  /** The current commit, or null where there is none (no git, unborn branch). */
  head(workspace: Workspace): Promise<string | null>;
  /** The change since `from` (null: since nothing) with what is uncommitted or untracked, as a capped unified diff; "" where there is no git. */
  diff(workspace: Workspace, from: string | null): Promise<string>;
  /** Puts a program inside; absent where it is started as it is. Fails closed: what cannot be confined is not started. */
  readonly confine?: (workspace: Workspace, launch: Launch) => Promise<Result<Launch>>;
  /** Programs are found inside, not on this machine: argv begins with the name as it was given. */
  readonly ownPrograms?: boolean;
  /** What lies uncommitted becomes a commit of the branch; null when there was nothing. Absent where the folder is the person's own. */
  readonly commit?: (workspace: Workspace, message: string) => Promise<Result<string | null>>;
  /** The commits since `from` (null: all), oldest first, at most 100. Absent where there is no git for sure. */
  readonly commits?: (workspace: Workspace, from: string | null) => Promise<readonly string[]>;
  /** Brings the branch's commits to the project's repository. Absent where they are there already. */
  readonly publish?: (workspace: Workspace, runId: string) => Promise<Result<null>>;
  /** Called before an attempt; the answer is called after it and tells in sentences what was changed in the person's repository and undone. */
  readonly guard?: (workspace: Workspace) => Promise<() => Promise<readonly string[]>>;
  /** Workspaces that were opened and are not closed, of one run or of all. Throws where that cannot be found out. */
  readonly left?: (runId?: string) => Promise<readonly (Workspace & { readonly runId: string })[]>;
  /** The workspace stays, for people to look at; its branch is free for others. */
  readonly letGo?: (workspace: Workspace) => Promise<Result<null>>;
  /** After a crash, when nothing works there any more: removes the locks that ended programs left behind. */
  unlock(workspace: Workspace): Promise<void>;
  /**
   * Pins the branch, then removes the workspace. Uncommitted work is committed to the pin, never dropped. Repeating it is fine.
   */
  close(workspace: Workspace, runId: string): Promise<Result<Closed>>;
}
