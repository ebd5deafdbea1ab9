// Stages that Passrail carries out itself, without an agent. Each is a function from a run to a report, and can be repeated after a crash.

import { bundleLines } from "../core/input/bundle.ts";
import { runFacts } from "../core/run/facts.ts";
import { join } from "node:path";
import type { ResolvedFlow } from "../core/flow/agent.ts";
import type { WorkStage } from "../core/flow/flow.ts";
import { NEXT_ROW } from "../core/flow/foreach.ts";
import type { Report } from "../core/flow/outcome.ts";
import type { Result } from "../core/result.ts";
import type { Run } from "../core/run/run.ts";
import { makeFolders, writeConfined } from "../file/confined.ts";
import type { Workspace, Workspaces } from "../workspace/workspace.ts";
import type { EarlierAttempt } from "./earlier-attempt.ts";
import { bundlesOf, runInputs } from "./run-inputs.ts";
import { untampered } from "./tampered.ts";
import { nextRow } from "./next-row.ts";
import type { OutwardLog } from "./outward-log.ts";

export type BuiltinContext = {
  readonly run: Run;
  readonly stage: WorkStage;
  readonly attempt: number;
  readonly resolved: ResolvedFlow;
  readonly project: string;
  readonly workspace: Workspace;
  readonly workspaces: Workspaces;
  /** Aborted when the stage is no longer wanted. */
  readonly signal: AbortSignal;
  readonly now: () => string;
  /** The state folder. */
  readonly home: string;
  /** The run's own folder, outside the workspace. */
  readonly runDir: string;
  readonly attempts: readonly EarlierAttempt[];
  /** Every act that leaves this machine goes through it. */
  readonly outward: OutwardLog;
  /** Safe YAML: no tags, no aliases, bounded. */
  readonly readYaml: (text: string) => Result<unknown>;
};

export type Builtin = (context: BuiltinContext) => Promise<Report>;

export const builtins: Readonly<Record<string, Builtin>> = { bundles, [NEXT_ROW]: nextRow };

/** 002: one bundle for builders and one for testers, from the copies that a person agreed to. */
async function bundles({ run, project, home, runDir, resolved: { flow } }: BuiltinContext): Promise<Report> {
  const folder = join(runDir, "bundles");
  untampered(makeFolders(runDir, folder, 0o700));
  const sources = runInputs({ home, project }, run);
  for (const name of ["spec", "plan", "task"] as const) {
    const path = runFacts(run).plan[name];
    if (path !== null && sources[name] === undefined)
      return { cause: "input_missing", reason: `the ${name} file ${path} cannot be read` };
  }
  const warnings: string[] = [];
  for (const [name, text] of Object.entries(bundlesOf(sources))) {
    untampered(writeConfined(runDir, join(folder, name), text));
    const max = flow.bundles?.maxLines[name.replace("-bundle.md", "")];
    const lines = bundleLines(text);
    if (max !== undefined && lines > max)
      warnings.push(`bundle_large: ${name} has ${lines} lines, more than ${max}; every agent of its kind reads them`);
  }
  const summary = "dev-bundle.md and tester-bundle.md are written";
  return { structured: true, summary, path: "bundles", ...(warnings.length === 0 ? {} : { warnings }) };
}
