// `workspaces.sandbox: auto`: the strongest sandbox of this machine that can be started. It never means no sandbox.

import type { ConfiningMode } from "../core/flow/workspace-mode.ts";
import { err, ok, type Result } from "../core/result.ts";
import type { Environment } from "../settings/site.ts";
import type { WorkspaceSettings } from "../settings/workspaces.ts";
import { workspaceProblem } from "./providers.ts";

/**
 * Containers come first: inside are only the image's programs, while bubblewrap shows those of the machine. Daytona is chosen by name
 * alone, because it takes the work to another machine and costs money.
 */
const STRONGEST_FIRST = ["podman", "docker", "bubblewrap"] as const satisfies readonly ConfiningMode[];

export async function strongestSandbox(
  settings: WorkspaceSettings,
  environment: Environment,
): Promise<Result<ConfiningMode>> {
  const reasons: string[] = [];
  for (const mode of STRONGEST_FIRST) {
    const problem = await workspaceProblem(mode, settings, environment);
    if (problem === undefined) return ok(mode);
    reasons.push(problem.message);
  }
  return err({
    code: "sandbox_unavailable",
    message: `No sandbox can be started on this machine. ${reasons.join(" ")}`,
    hint: "passrail sandbox list   says what each one needs",
  });
}
