// The kinds of workspaces, by the names used in settings, flags and the API.

/** in-place: the project's folder itself. The others are made for the run; the last four also confine the program that works there. */
export const WORKSPACE_MODES = ["in-place", "worktree", "clone", "bubblewrap", "docker", "podman", "daytona"] as const;
export type WorkspaceMode = (typeof WORKSPACE_MODES)[number];
