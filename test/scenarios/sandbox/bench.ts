// A project, a state folder and a user's home with things worth stealing, and programs that are started in a confining workspace as the engine
// starts them.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { optional } from "../../../src/core/optional.ts";
import { createCommandRunner } from "../../../src/runner/command.ts";
import type { AttemptEnd, AttemptHooks, AttemptLimits, AttemptSpec } from "../../../src/runner/runner.ts";
import { createWorkspaces } from "../../../src/workspace/providers.ts";
import type { WorkspaceSettings } from "../../../src/settings/workspaces.ts";
import type { Workspace, Workspaces } from "../../../src/workspace/workspace.ts";
import type { WorkspaceMode } from "../../../src/core/flow/workspace-mode.ts";
import { makeRepository, tempDir, valueOf } from "../../../src/workspace/workspace.testsuite.ts";

export type Bench = {
  readonly dir: string;
  readonly project: string;
  /** The state folder. */
  readonly home: string;
  readonly userHome: string;
  /** Where attempts leave their verdicts. */
  readonly result: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly workspaces: Workspaces;
  open(runId?: string): Promise<Workspace>;
  /** Starts a program in the workspace and waits for its end. */
  run(workspace: Workspace, argv: readonly [string, ...string[]], how?: How): Promise<AttemptEnd>;
  /** The same for a line of the shell. */
  sh(workspace: Workspace, line: string, how?: How): Promise<AttemptEnd>;
};

export type How = {
  readonly env?: Readonly<Record<string, string>>;
  readonly limits?: Partial<AttemptLimits>;
  readonly hooks?: Partial<AttemptHooks>;
  readonly prompt?: string;
  readonly marker?: string;
  /** Folders that it may only read. */
  readonly reads?: readonly string[];
  /** Services of this machine that it must reach. */
  readonly ports?: readonly number[];
};

/** Made at run time: this file, and copies of it that tools keep, may be in a folder that a sandbox shows. */
export const SECRET: string = ["only", "outside", "5f2c"].join("-");

export async function openConfined(
  mode: WorkspaceMode,
  settings: Partial<WorkspaceSettings> = {},
  environment: Readonly<Record<string, string>> = {},
): Promise<Bench> {
  const dir = await tempDir();
  const project = await makeRepository(join(dir, "project"));
  const home = join(dir, "state");
  const userHome = join(dir, "user");
  const result = join(home, "runs", "r1", "build-1", "result");
  mkdirSync(result, { recursive: true });
  mkdirSync(join(userHome, ".ssh"), { recursive: true });
  for (const file of [join(home, "token"), join(userHome, ".ssh", "id_ed25519"), join(dir, "elsewhere")]) {
    writeFileSync(file, SECRET);
  }
  const whole = { PATH: process.env["PATH"] ?? "", HOME: userHome, ...environment };
  const workspaces = createWorkspaces({ home, settings: { sandbox: "worktree", ...settings }, environment: whole })(
    mode,
  );
  let attempts = 0;
  const run: Bench["run"] = (
    workspace,
    argv,
    { env, limits, hooks, prompt = "", marker, reads = [], ports = [] } = {},
  ) => {
    attempts += 1;
    const spec: AttemptSpec = {
      marker: marker ?? `test-${process.pid}-${dir.slice(-6)}-${attempts}`,
      argv,
      cwd: workspace.dir,
      prompt,
      env: { ...whole, PASSRAIL_VERDICT_FILE: join(result, "verdict.json"), ...env },
      outputPath: join(dir, `output-${attempts}.log`),
      limits: { totalMs: 30_000, outputBytes: 1_000_000, graceMs: 2_000, ...limits },
      confine: async (launch) =>
        workspaces.confine === undefined
          ? { ok: false, error: { code: "none", message: "this kind does not confine" } }
          : workspaces.confine(workspace, {
              ...launch,
              folders: [result],
              reads,
              ports,
              ...optional({ resources: limits?.resources }),
            }),
      ...(workspaces.ownPrograms === true ? { ownPrograms: true } : {}),
    };
    return createCommandRunner().run(spec, { signal: new AbortController().signal, ...hooks });
  };
  return {
    dir,
    project,
    home,
    userHome,
    result,
    environment: whole,
    workspaces,
    open: async (runId = "r1") => valueOf(await workspaces.open({ runId, project, branch: `feat/${runId}` })),
    run,
    sh: (workspace, line, how) => run(workspace, ["/bin/sh", "-c", line], how),
  };
}
