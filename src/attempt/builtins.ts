// Stages that Passrail carries out itself, without an agent. Each is a function from a run to a report, and can be repeated after a crash.

import { runFacts } from "../core/run/facts.ts";
import { mkdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { ResolvedFlow } from "../core/flow/agent.ts";
import type { WorkStage } from "../core/flow/flow.ts";
import type { Report } from "../core/flow/outcome.ts";
import type { Result } from "../core/result.ts";
import type { Run } from "../core/run/run.ts";
import type { Workspace, Workspaces } from "../workspace/workspace.ts";
import { readAgentFile } from "./attempt-files.ts";
import type { EarlierAttempt } from "./earlier-attempt.ts";

export type BuiltinContext = {
  readonly run: Run;
  readonly stage: WorkStage;
  readonly resolved: ResolvedFlow;
  readonly project: string;
  readonly workspace: Workspace;
  readonly workspaces: Workspaces;
  /** Aborted when the stage is no longer wanted. */
  readonly signal: AbortSignal;
  readonly now: () => string;
  /** The run's own folder, outside the workspace. */
  readonly runDir: string;
  readonly attempts: readonly EarlierAttempt[];
  /** Safe YAML: no tags, no aliases, bounded. */
  readonly readYaml: (text: string) => Result<unknown>;
};

export type Builtin = (context: BuiltinContext) => Promise<Report>;

export const builtins: Readonly<Record<string, Builtin>> = { bundles };

const SOURCE_BYTES = 1024 * 1024;
const DIGEST_LINES = 15;

/** 002: one bundle for builders and one for testers; the spec is referenced with a digest, never copied. */
async function bundles({ run, project, runDir }: BuiltinContext): Promise<Report> {
  const folder = join(runDir, "bundles");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const sources: string[] = [];
  for (const name of ["spec", "plan", "task"] as const) {
    const path = runFacts(run).plan[name];
    if (path === null) continue;
    const text = await readAgentFile(join(project, path), SOURCE_BYTES);
    if (text === undefined) return { cause: "input_missing", reason: `the ${name} file ${path} cannot be read` };
    sources.push(`## ${name}: ${path}`, ...digest(text));
  }
  if (sources.length === 0)
    sources.push(`## ticket ${run.subject.id}: ${run.subject.title}`, ...digest(run.subject.body));
  const head = (who: string) => [
    `# Bundle for ${who}`,
    "",
    "Pointers and a digest; read the files themselves for the whole text.",
    "",
  ];
  await replaceFile(join(folder, "dev-bundle.md"), [...head("those who build"), ...sources, ""].join("\n"));
  await replaceFile(join(folder, "tester-bundle.md"), [...head("those who test"), ...sources, ""].join("\n"));
  return { structured: true, summary: "dev-bundle.md and tester-bundle.md are written", path: "bundles" };
}

function digest(text: string): string[] {
  const lines = text.split("\n").map((line) => line.trim());
  const headings = lines.filter((line) => line.startsWith("#"));
  const chosen = headings.length > 0 ? headings : lines.filter((line) => line !== "");
  return chosen.slice(0, DIGEST_LINES).map((line) => `- ${line.replace(/^#+\s*/u, "").slice(0, 200)}`);
}

async function replaceFile(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: 0o600 });
  await rename(`${path}.new`, path);
}
