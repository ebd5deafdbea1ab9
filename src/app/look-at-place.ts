// The repository and the coding agents of this machine, for a person before their first run. Reads only.

import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Problem } from "../core/result.ts";
import { describeProject } from "../git/project-info.ts";
import type { Detected } from "../runner/detect.ts";
import { detectRunners } from "../runner/detect-runners.ts";
import type { Settings } from "../settings/settings.ts";
import { type Environment, SETTINGS_FILE } from "../settings/site.ts";
import { noWorktree } from "./start-run/find-worktree.ts";

export type LookedAtPlace = {
  readonly project: string;
  /** `problem`: why no run can have a worktree here; null if one can. */
  readonly repository: { readonly branch: string | null; readonly changes: boolean; readonly problem: Problem | null };
  readonly agents: readonly Detected[];
  readonly hasSettings: boolean;
};

export async function lookAtPlace(
  environment: Environment,
  project: string,
  settings: Pick<Settings, "programs" | "passEnvironment">,
): Promise<LookedAtPlace> {
  const [cannot, { git }, agents] = await Promise.all([
    noWorktree(project),
    describeProject(project),
    detectRunners(environment, project, settings),
  ]);
  return {
    project,
    repository: { branch: git?.branch ?? null, changes: git?.changes === true, problem: cannot?.problem ?? null },
    agents,
    hasSettings: existsSync(join(project, SETTINGS_FILE)),
  };
}
