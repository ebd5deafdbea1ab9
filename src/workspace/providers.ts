// The provider of each kind of workspace. One that cannot open its kind returns a problem: Passrail never falls back to another kind,
// because the work would then be in an unintended place.

import { join } from "node:path";
import { err, type Problem } from "../core/result.ts";
import { createCloneWorkspaces } from "./clone.ts";
import { createConfining } from "./sandbox/kinds.ts";
import { createDirectoryWorkspaces } from "./directory.ts";
import type { GitWorkspaces } from "./git-workspaces.ts";
import { workLimits, type WorkspaceSettings } from "../settings/workspaces.ts";
import { type Environment, homeOf } from "../settings/site.ts";
import { createRepositoryGuard, type RepositoryGuard } from "./repository-guard.ts";
import { usable } from "./usable.ts";
import type { Workspaces } from "./workspace.ts";
import { isConfining, type WorkspaceMode } from "../core/flow/workspace-mode.ts";
import { createWorktreeWorkspaces } from "./worktree.ts";

export type WorkspaceOptions = {
  /** The state folder. */
  readonly home: string;
  readonly settings: WorkspaceSettings;
  readonly environment: Readonly<Record<string, string | undefined>>;
};

/** One provider per kind, created on first use. */
export function createWorkspaces(options: WorkspaceOptions): (mode: WorkspaceMode) => Workspaces {
  const made = new Map<WorkspaceMode, Workspaces>();
  // One for all kinds: an agent in place and one in a worktree share the same repository.
  const guard = createRepositoryGuard(options.home);
  return (mode) => {
    const known = made.get(mode) ?? withAll(create(mode, options, guard), { ...options, guard });
    made.set(mode, known);
    return known;
  };
}

/** Workspaces with a repository get everything that a branch needs; the user's own folder stays unchanged. */
function withAll(
  provider: Workspaces | GitWorkspaces,
  options: WorkspaceOptions & { guard: RepositoryGuard },
): Workspaces {
  return "place" in provider ? usable(provider, options) : provider;
}

function create(mode: WorkspaceMode, options: WorkspaceOptions, guard: RepositoryGuard): Workspaces | GitWorkspaces {
  const { home } = options;
  const limits = workLimits(options.settings);
  const turns = join(home, "locks");
  if (mode === "in-place") return createDirectoryWorkspaces(guard, limits);
  if (mode === "worktree") return createWorktreeWorkspaces({ root: join(home, "worktrees"), limits, turns });
  if (mode === "clone") return createCloneWorkspaces({ root: join(home, "clones"), limits, turns });
  return isConfining(mode) ? createConfining(mode, options) : unknownKind(mode);
}

/** A run that another version started may name an unknown kind. */
function unknownKind(mode: WorkspaceMode): Workspaces {
  const problem: Problem = {
    code: "workspace_mode_unknown",
    message: `There are no workspaces of the kind "${mode}" here.`,
    hint: "Choose another one: --workspace worktree, or workspaces.sandbox in passrail.yaml",
  };
  const refuse = async () => err(problem);
  return {
    mode,
    check: refuse,
    open: refuse,
    close: refuse,
    head: async () => null,
    diff: async () => `[passrail: the diff could not be made: ${problem.message}]\n`,
    unlock: async () => {},
  };
}

/** Why this machine cannot open such a workspace; undefined if it can. */
export async function workspaceProblem(
  mode: WorkspaceMode,
  settings: WorkspaceSettings,
  environment: Environment,
): Promise<Problem | undefined> {
  const provider = createWorkspaces({ home: homeOf(environment), settings, environment })(mode);
  const checked = await provider.check?.();
  return checked?.ok === false ? checked.error : undefined;
}
