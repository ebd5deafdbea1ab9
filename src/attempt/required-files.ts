// Files that a stage must write, and the handoff document that an agent names: whether this attempt wrote them, inside its workspace.

import { realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import type { WorkStage } from "../core/flow/flow.ts";
import type { Report } from "../core/flow/outcome.ts";
import { stamp } from "./attempt-files.ts";

/** Path of a required file -> its stamp before the attempt. */
export type Stamps = ReadonlyMap<string, string>;

export async function stampRequired(dir: string, stage: WorkStage): Promise<Stamps> {
  const paths = requiredFiles(stage);
  const stamps = await Promise.all(paths.map((path) => stamp(join(dir, path))));
  return new Map(paths.map((path, index) => [path, stamps[index] ?? "absent"]));
}

/** Files that are missing or unchanged since before the attempt. `changed`: whether it left any commit or diff. */
export async function missingFiles(
  dir: string,
  stage: WorkStage,
  before: Stamps,
  changed: boolean,
): Promise<readonly string[]> {
  const missing: string[] = [];
  for (const [path, earlier] of before) {
    const now = await stamp(join(dir, path));
    if (now === "absent" || now === earlier) missing.push(path);
  }
  if (stage.writes.includes("git-commit") && !changed) missing.push("any change (a commit or a diff)");
  return missing;
}

/** A handoff document must be inside the workspace, also where links lead. A missing one is a warning on the stage. */
export async function checkHandoff(dir: string, report: Report): Promise<Report> {
  const { path, ...rest } = report;
  if (path === undefined || report.cause !== undefined) return report;
  const real = await realpath(join(dir, path)).catch(() => undefined);
  if (real === undefined) {
    const warning = `handoff_file_missing: the handoff ${path} does not exist in the workspace`;
    return { ...report, warnings: [...(report.warnings ?? []), warning] };
  }
  if (real.startsWith(`${await realpath(dir)}${sep}`)) return report;
  return { ...rest, cause: "handoff_outside", reason: `the handoff ${path} leads out of the workspace` };
}

/** Files that the flow says this stage writes; the reader of the verdict judges the verdict's own file. */
function requiredFiles(stage: WorkStage): readonly string[] {
  return stage.writes.filter(
    (name) => name !== "git-commit" && name !== stage.result.path && !name.startsWith("/") && !name.includes(".."),
  );
}
