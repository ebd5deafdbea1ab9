// What workspaces with git have in common behind the port: the place of their repository, so that commits can be made and merged there.

import type { Result } from "../core/result.ts";
import type { GitLocation } from "../git/git.ts";
import type { Workspace, Workspaces } from "./workspace.ts";

export type GitWorkspaces = Workspaces & {
  /** Work tree and git directory, found by us and not by what an agent may have written there. */
  place(workspace: Workspace): Promise<Result<GitLocation>>;
};
