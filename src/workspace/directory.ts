// Work in the project folder itself, with or without git. Passrail creates nothing here, so it removes and pins nothing: only the lock key
// (one attempt at a time) protects the files.

import { optional } from "../core/optional.ts";
import { ok } from "../core/result.ts";
import { diffSince } from "../git/diff.ts";
import { findProject, findRepository, resolveCommits } from "../git/repository.ts";
import { fileInCommit, linesInCommit, treeState } from "../git/tree-state.ts";
import type { WorkLimits } from "../git/large-files.ts";
import type { RepositoryGuard } from "./repository-guard.ts";
import type { Workspaces } from "./workspace.ts";

export function createDirectoryWorkspaces(guard: RepositoryGuard, limits?: WorkLimits): Workspaces {
  return {
    mode: "in-place",

    async open(request) {
      const project = await findProject(request.project);
      if (!project.ok) return project;
      return ok({ mode: "in-place", dir: project.value, lockKeys: [`dir:${project.value}`] });
    },

    async head(workspace) {
      const repository = await findRepository(workspace.dir);
      if (!repository.ok) return null;
      const commits = await resolveCommits(workspace.dir, ["HEAD"], { place: repository.value });
      return commits.ok ? (commits.value[0] ?? null) : null;
    },

    async diff(workspace, from) {
      const repository = await findRepository(workspace.dir);
      if (repository.ok) return diffSince(repository.value, workspace.dir, from, optional({ limits }));
      if (repository.error.code === "not_a_git_repository") return "";
      return `[passrail: the diff could not be made: ${repository.error.message}]\n`;
    },

    async tree(workspace) {
      const repository = await findRepository(workspace.dir);
      return repository.ok ? treeState(repository.value) : repository;
    },

    async lines(workspace, commit, paths) {
      const repository = await findRepository(workspace.dir);
      return repository.ok ? linesInCommit(repository.value, workspace.dir, { commit, paths }) : repository;
    },

    async file(workspace, commit, path) {
      const repository = await findRepository(workspace.dir);
      return repository.ok ? fileInCommit(repository.value, workspace.dir, { commit, path }) : repository;
    },

    async guard(workspace) {
      const repository = await findRepository(workspace.dir);
      if (repository.ok) return guard.begin(repository.value.commonDir, null);
      if (repository.error.code === "not_a_git_repository") return ok(async () => ({ tampered: [], warnings: [] }));
      return repository;
    },

    async unlock() {
      // The folder is the user's: a lock in it may be theirs.
    },

    async close() {
      return ok({ pinned: null, leftover: null });
    },
  };
}
