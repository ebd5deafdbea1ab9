// Where a replay works: in the workspace that a person chose, else in the sandbox that the run had, else in a worktree.
// An imported run needs a sandbox: the replay repeats its agents' acts, and its author chose them, not the person who
// replays it.

import { isConfining, type WorkspaceMode } from "../../core/flow/workspace-mode.ts";
import { err, ok, type Result } from "../../core/result.ts";
import type { Run } from "../../core/run/run.ts";
import type { Settings } from "../../settings/settings.ts";
import type { Environment } from "../../settings/site.ts";
import { workspaceProblem } from "../../workspace/providers.ts";
import { strongestSandbox } from "../../workspace/strongest.ts";
import type { TapedAttempt } from "./find-taped.ts";

export type ModeChoice = {
  readonly environment: Environment;
  readonly settings: Settings;
  /** The kind that a person chose. */
  readonly workspace?: string;
};

export async function chooseMode(
  { environment, settings, workspace }: ModeChoice,
  { imported }: Run,
  attempts: readonly TapedAttempt[],
): Promise<Result<WorkspaceMode>> {
  const { workspaces } = settings;
  const had = attempts.map(({ facts }) => facts.mode ?? "").find(isConfining);
  const chosen = workspace ?? (imported === undefined ? had : importedMode(workspaces.sandbox, had)) ?? "worktree";
  const found = chosen === "auto" ? await strongestSandbox(workspaces, environment) : ok(chosen);
  if (!found.ok) return found;
  const mode = found.value;
  if (isConfining(mode)) {
    const problem = await workspaceProblem(mode, workspaces, environment);
    return problem === undefined ? ok(mode) : err(problem);
  }
  if (mode !== "worktree" && mode !== "clone")
    return err({
      code: "workspace_mode_unknown",
      message: `A replay cannot work in "${mode.slice(0, 40)}".`,
      hint: "--workspace auto, bubblewrap, podman, docker, worktree or clone",
    });
  if (imported === undefined) return ok(mode);
  return err({
    code: "replay_needs_sandbox",
    message: "This run was imported: its replay repeats commands that its author chose, so it needs a sandbox.",
    hint: "--workspace auto   (passrail sandbox list says what this machine can start)",
  });
}

/** The sandbox of this person's settings comes before the one that the file names. */
function importedMode(sandbox: string, had: string | undefined): string | undefined {
  return isConfining(sandbox) || sandbox === "auto" ? sandbox : had;
}
