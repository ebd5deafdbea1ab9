// The kinds of workspaces, by the names used in settings, flags and the API.

/** in-place: the project's folder itself. The others are made for the run; the last four also confine the program that works there. */
export const WORKSPACE_MODES = ["in-place", "worktree", "clone", "bubblewrap", "docker", "podman", "daytona"] as const;
export type WorkspaceMode = (typeof WORKSPACE_MODES)[number];

const CONFINING_MODES = ["bubblewrap", "docker", "podman", "daytona"] as const satisfies readonly WorkspaceMode[];
export type ConfiningMode = (typeof CONFINING_MODES)[number];

export function isConfining(mode: string): mode is ConfiningMode {
  return CONFINING_MODES.some((each) => each === mode);
}
