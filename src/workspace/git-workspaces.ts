// Shared by workspaces with git: the location of their repository, so that Passrail can commit and merge there.

import type { Result } from "../core/result.ts";
import type { GitLocation } from "../git/git.ts";
import type { Workspace, Workspaces } from "./workspace.ts";

export type GitWorkspaces = Workspaces & {
  /** Work tree and git directory as Passrail finds them, not as an agent may have written them there. */
  place(workspace: Workspace): Promise<Result<GitLocation>>;
};
