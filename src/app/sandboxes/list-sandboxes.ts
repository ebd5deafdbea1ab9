// The kinds of sandbox on this machine, for `sandbox list`: whether each can be started, and what it needs.

import type { ConfiningMode } from "../../core/flow/workspace-mode.ts";
import type { Settings } from "../../settings/settings.ts";
import type { Environment } from "../../settings/site.ts";
import { workspaceProblem } from "../../workspace/providers.ts";
import { strongestSandbox } from "../../workspace/strongest.ts";

export const SANDBOX_KINDS = ["bubblewrap", "podman", "docker", "daytona"] as const satisfies readonly ConfiningMode[];

export type LookedAtSandbox = {
  readonly kind: ConfiningMode;
  /** Null: it can be started. */
  readonly problem: { readonly message: string; readonly hint: string } | null;
  /** The settings choose it by its name. */
  readonly isChosen: boolean;
  /** `auto` takes it. */
  readonly isStrongest: boolean;
};

export async function listSandboxes(
  { workspace, workspaces }: Pick<Settings, "workspace" | "workspaces">,
  environment: Environment,
): Promise<readonly LookedAtSandbox[]> {
  const strongest = await strongestSandbox(workspaces, environment);
  const chosen = new Set<string>([workspaces.sandbox, workspace.value]);
  return Promise.all(
    SANDBOX_KINDS.map(async (kind) => {
      const problem = await workspaceProblem(kind, workspaces, environment);
      return {
        kind,
        problem: problem === undefined ? null : { message: problem.message, hint: problem.hint ?? "" },
        isChosen: chosen.has(kind),
        isStrongest: strongest.ok && strongest.value === kind,
      };
    }),
  );
}
