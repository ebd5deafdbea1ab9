// The port of every workspace: where an attempt works. Opening is idempotent (a crash may repeat it), closing never loses work: Passrail
// pins a branch under refs/passrail/keep/ before it removes anything.

import type { Result } from "../core/result.ts";
import type { WorkspaceMode } from "../core/flow/workspace-mode.ts";

export type WorkspaceRequest = {
  readonly runId: string;
  /** The name of the workspace if a run has several, such as one per stage; default: the run's id. */
  readonly key?: string;
  /** The user's repository or folder (absolute). */
  readonly project: string;
  /** Branch to work on; checked against the allow-list. Only for git workspaces; default there: `passrail/<runId>`. */
  readonly branch?: string;
  /** Where a new branch starts; default: the project's HEAD commit. An existing branch is used unchanged. */
  readonly base?: string;
  /** Commits that the branch must contain before work starts: the work of tickets that this one depends on. */
  readonly contains?: readonly string[];
  /** For the setup programs of a fresh workspace: its mark lets Passrail find them again after a crash. */
  readonly env?: Readonly<Record<string, string>>;
  /** Aborts the setup. */
  readonly signal?: AbortSignal;
};

export type Workspace = {
  readonly mode: WorkspaceMode;
  /** The request's key. */
  readonly key?: string;
  readonly dir: string;
  readonly branch?: string;
  /** The repository's common git directory, which closing needs even if the workspace itself is gone. Set by git workspaces. */
  readonly repository?: string;
  /** Held while an attempt works here: two attempts with a common key never run at once. */
  readonly lockKeys: readonly string[];
  /** For every program that works here: its ports, the shared caches. */
  readonly env?: Readonly<Record<string, string>>;
  /** Folders outside it that every program here may write: the shared caches. */
  readonly folders?: readonly string[];
};

export type Closed = {
  /** The name of the ref that keeps the work. */
  readonly pinned: string | null;
  /** The commit of uncommitted work; null if everything was committed. */
  readonly leftover: string | null;
};

/** The start of a program, as a confining workspace changes it. */
export type Launch = {
  /** Begins with the absolute path of the program on this machine, also in the result: no later look-up on a PATH. */
  readonly argv: readonly [string, ...string[]];
  /** The program as the operator named it, for sandboxes with their own programs. */
  readonly program: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Folders besides the workspace that the program may write: its verdict, its own configuration. */
  readonly folders: readonly string[];
};

export interface Workspaces {
  readonly mode: Workspace["mode"];
  /** Whether this machine can open such workspaces; checked before a run is stored. Absent: always. */
  readonly check?: () => Promise<Result<null>>;
  open(request: WorkspaceRequest): Promise<Result<Workspace>>;
  /** The current commit, or null where there is none (no git, unborn branch). */
  head(workspace: Workspace): Promise<string | null>;
  /** The change since `from` (null: since nothing), including uncommitted and untracked files, as a capped unified diff; "" without git. */
  diff(workspace: Workspace, from: string | null): Promise<string>;
  /** Puts a program inside; absent if it starts unchanged. Fails closed: a program that cannot be confined does not start. */
  readonly confine?: (workspace: Workspace, launch: Launch) => Promise<Result<Launch>>;
  /** Programs are found inside, not on this machine: argv begins with the name as given. */
  readonly ownPrograms?: boolean;
  /** Commits uncommitted work to the branch; null if there was none. Absent if the folder is the user's own. */
  readonly commit?: (workspace: Workspace, message: string) => Promise<Result<string | null>>;
  /** The commits since `from` (null: all), oldest first, at most 100. Absent if there is never a git repository. */
  readonly commits?: (workspace: Workspace, from: string | null) => Promise<readonly string[]>;
  /** Brings the branch's commits to the project's repository. Absent if they are there already. */
  readonly publish?: (workspace: Workspace, runId: string) => Promise<Result<null>>;
  /**
   * Called before an attempt; the caller calls the returned function after it. That undoes changes to the user's repository and reports
   * them in sentences.
   */
  readonly guard?: (workspace: Workspace) => Promise<() => Promise<readonly string[]>>;
  /** Open workspaces of one run or of all. Throws if they cannot be listed. */
  readonly left?: (runId?: string) => Promise<readonly (Workspace & { readonly runId: string })[]>;
  /** Keeps the workspace for people to inspect and frees its branch. */
  readonly letGo?: (workspace: Workspace) => Promise<Result<null>>;
  /** After a crash, when nothing works there any more: removes the locks that ended programs left behind. */
  unlock(workspace: Workspace): Promise<void>;
  /** Pins the branch, then removes the workspace. Uncommitted work is committed to the pin, never dropped. Idempotent. */
  close(workspace: Workspace, runId: string): Promise<Result<Closed>>;
}
