// Runs the proposed checks once in the project's own folder, one after the other: a check that is red before any change would send every
// work back.

import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createRedaction } from "../../core/secrets/redaction.ts";
import type { ProposedCheck } from "../../core/setup/propose.ts";
import { childEnvironment, secretsOf } from "../../runner/process/environment.ts";
import { findProgram } from "../../runner/process/find-program.ts";
import { runProcess } from "../../runner/process/process.ts";
import { createStreamRedactor } from "../../runner/process/redactor.ts";
import type { Environment } from "../../settings/site.ts";

const LIMITS = { totalMs: 10 * 60_000, outputBytes: 64 * 1024 * 1024, graceMs: 5000 };

/** `why` is null for a green one. `tail`: the end of its output. */
export type TriedCheck = {
  readonly name: string;
  readonly why: string | null;
  readonly tail: string;
  readonly ms: number;
};

export async function tryCheck(
  { name, run }: ProposedCheck,
  project: string,
  environment: Environment,
  signal: AbortSignal,
): Promise<TriedCheck> {
  const env = childEnvironment(environment, {}, []);
  const [program = "", ...args] = run;
  const argv = [program, ...args] as const;
  const found = findProgram({ argv, cwd: project, env });
  if (!found.ok) return { name, why: found.error.detail, tail: "", ms: 0 };
  const folder = mkdtempSync(join(tmpdir(), "passrail-check-"));
  const begun = performance.now();
  try {
    const end = await runProcess(
      found.value,
      {
        marker: `check/${randomUUID()}`,
        argv,
        cwd: project,
        prompt: "",
        env,
        limits: LIMITS,
        outputPath: join(folder, "output"),
        redactor: () => createStreamRedactor(createRedaction(secretsOf(environment))),
      },
      { signal },
    );
    const why = end.reason === "exited" ? (end.exitCode === 0 ? null : `exit code ${end.exitCode}`) : end.reason;
    return { name, why, tail: `${end.stdoutTail}${end.stderrTail}`.slice(-2000), ms: performance.now() - begun };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
