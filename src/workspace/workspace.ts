// The port of every workspace: where an attempt works. Opening is idempotent (a crash may repeat it), closing never loses work: Passrail
// pins a branch under refs/passrail/keep/ before it removes anything.

import type { StageResources } from "../core/flow/flow.ts";
import type { Result } from "../core/result.ts";
import type { WorkspaceMode } from "../core/flow/workspace-mode.ts";
import type { JsonObject } from "../core/json.ts";
import type { Joint } from "../core/run/joint.ts";
import type { TreeState } from "../git/tree-state.ts";

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
  /** A person said that Passrail may work on this branch although it did not make it. */
  readonly adopts?: boolean;
  /** Several repositories: the workspace opens on their joint repository. */
  readonly joint?: JointRequest;
  /** Commits that the branch must contain before work starts: the work of tickets that this one depends on. */
  readonly contains?: readonly string[];
  /** Only its branch and its files matter now: neither copied files nor setup programs. Opening it later without this makes up for them. */
  readonly withoutSetup?: boolean;
  /** For the setup programs of a fresh workspace: its mark lets Passrail find them again after a crash. */
  readonly env?: Readonly<Record<string, string>>;
  /** Aborts the setup. */
  readonly signal?: AbortSignal;
};

/** `branch`: the run's own, which the members get their parts of. Tracks have others, until they are joined. */
export type JointRequest = Joint & { readonly branch: string };

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
  /** Set for the run's own branch over several repositories: they get their parts of it. */
  readonly joint?: Joint & { readonly project: string };
};

export type Closed = {
  /** The name of the ref that keeps the work. */
  readonly pinned: string | null;
  /** The commit of uncommitted work; null if everything was committed. */
  readonly leftover: string | null;
};

export type GuardReport = {
  /** Changes that no attempt may make, in sentences: the attempt has tampered. */
  readonly tampered: readonly string[];
  /** What people should know, whoever did it. */
  readonly warnings: readonly string[];
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
  /** Folders outside the workspace that it may only read: the handoffs of others. */
  readonly reads?: readonly string[];
  /** `outside`: a gateway adds its keys, so that no file with credentials is shown to it. */
  readonly credentials?: "outside";
  /** Ports of this machine's loopback that the program must reach; for workspaces whose network is bridged. */
  readonly ports?: readonly number[];
  /** In the result: as in `ConfinedLaunch`. */
  readonly begun?: string;
  /** Only what the workspaces hold. */
  readonly resources?: StageResources;
  /** In the result: as in `ConfinedLaunch`. */
  readonly filled?: readonly string[];
};

/** `logins`: the folders of programs that keep their files outside of their home, in order; each may be missing. */
export type PrivateFolders = { readonly home: string; readonly logins: readonly string[] };

export type OwnNetwork =
  /** What a launch names in `ports` is reached inside at the same address. */
  | { readonly type: "bridged" }
  /** What listens on this machine's loopback is out of their reach. `why` completes "… does not go through the gateway: …". */
  | { readonly type: "apart"; readonly why: string };

export type CommitRequest = {
  /** Only work below this folder. */
  readonly dir?: string;
  /** The last diff showed all of it, and nobody has changed a file since: the commit need not look again. */
  readonly asShown?: boolean;
};

type CloseRequest = { readonly later: boolean; readonly isCommitted?: boolean };

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
  /** The folders of this machine that programs inside have for their home and their own files; agents write there. */
  readonly privateFolders?: (workspace: Workspace) => Promise<PrivateFolders>;
  /** Programs are found inside, not on this machine: argv begins with the name as given. */
  readonly ownPrograms?: boolean;
  /** What a program may use of the machine can be limited in these. Absent: in nothing. */
  readonly holds?: readonly (keyof StageResources)[];
  /** A program inside gets its prompt, whole, and nothing after it. */
  readonly takesOnePrompt?: boolean;
  /** Programs inside have another network than this machine, or none. Absent: they have the machine's. */
  readonly ownNetwork?: OwnNetwork;
  /**
   * Commits uncommitted work to the branch; null if there was none. Afterwards the branch holds all commits of the
   * work tree, or it fails. Absent if the folder is the user's own.
   */
  readonly commit?: (workspace: Workspace, message: string, how?: CommitRequest) => Promise<Result<string | null>>;
  /**
   * Puts the work tree and the branch back to `from`. What was there is kept under a ref, whose name it returns. Absent if the folder is
   * the user's own.
   */
  readonly setAside?: (workspace: Workspace, runId: string, from: string) => Promise<Result<string>>;
  /** Moves branch and files to a later commit of the same repository that contains the current one. Absent if the folder is the user's own. */
  readonly advance?: (workspace: Workspace, to: string) => Promise<Result<null>>;
  /** The commits since `from` (null: all), oldest first, at most 100. Absent if there is never a git repository. */
  readonly commits?: (workspace: Workspace, from: string | null) => Promise<readonly string[]>;
  /** Afterwards what the branch has since `from` is on the disk, whoever committed it. Absent if the folder is the user's own. */
  readonly sync?: (workspace: Workspace, from: string | null) => Promise<Result<null>>;
  /** The commit and tree that the files show. Absent if there is never a git repository. */
  readonly tree?: (workspace: Workspace) => Promise<Result<TreeState>>;
  /** The number of lines of files of a commit, null for a path that is no file there; paths are relative to the workspace. */
  readonly lines?: (
    workspace: Workspace,
    commit: string,
    paths: readonly string[],
  ) => Promise<Result<readonly (number | null)[]>>;
  /** The text of a file of a commit, null for a path that is no file there; the path is relative to the workspace. */
  readonly file?: (workspace: Workspace, commit: string, path: string) => Promise<Result<string | null>>;
  /** Puts tracked files back as they are in the commit. Absent if the folder is the user's own. */
  readonly restore?: (workspace: Workspace) => Promise<Result<null>>;
  /** Pins the branch, then moves it back to an earlier commit; returns the pin. Absent if the folder is the user's own. */
  readonly undo?: (workspace: Workspace, to: string, runId: string) => Promise<Result<string>>;
  /**
   * Brings the branch's commits to the project's repository, or to each of several. Absent if they are there already. Returns facts to store
   * with the attempt.
   */
  readonly publish?: (workspace: Workspace, runId: string) => Promise<Result<JsonObject | null>>;
  /**
   * Called before an attempt; the caller calls the returned function after it. That undoes changes to the user's repository and reports
   * them. Fails closed: where the repository cannot be compared, no attempt starts.
   */
  readonly guard?: (workspace: Workspace) => Promise<Result<() => Promise<GuardReport>>>;
  /** Open workspaces of one run or of all. Throws if they cannot be listed. */
  readonly left?: (runId?: string) => Promise<readonly (Workspace & { readonly runId: string })[]>;
  /** Keeps the workspace for people to inspect and frees its branch. */
  readonly letGo?: (workspace: Workspace) => Promise<Result<null>>;
  /** After a crash, when nothing works there any more: removes the locks that ended programs left behind. */
  unlock(workspace: Workspace): Promise<void>;
  /** The same for the branch of a workspace that may not be there: a program can end before it has opened it. */
  readonly unlockBranch?: (request: WorkspaceRequest) => Promise<void>;
  /**
   * Pins the branch, then removes the workspace. Uncommitted work is committed to the pin, never dropped. Idempotent. `later`: the next stage
   * waits, so the files only move out of the way, and `sweep` removes them. `isCommitted`: all its work has just been committed to its branch,
   * and nobody has changed a file since.
   */
  close(workspace: Workspace, runId: string, how?: CloseRequest): Promise<Result<Closed>>;
  /**
   * While agents work: gets ready what the next workspace of this project will need, as far as that takes long. A request for a workspace that
   * is open changes nothing. It never fails: without it opening only takes longer.
   */
  readonly prepare?: (request: WorkspaceRequest) => Promise<void>;
  /** Removes what was got ready and not used. */
  readonly dropPrepared?: () => Promise<void>;
  /** Removes the files that closed workspaces of a run left for later; without a run, those of all, and what ended processes got ready. */
  readonly sweep?: (runId?: string) => Promise<Result<null>>;
}
