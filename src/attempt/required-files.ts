// Files that a stage must write, and the handoff document that an agent names: whether this attempt wrote them, inside its workspace.

import { join } from "node:path";
import type { WorkStage } from "../core/flow/flow.ts";
import type { Report } from "../core/flow/outcome.ts";
import { lookConfined } from "../file/confined.ts";
import { tamperedReport, untampered } from "./tampered.ts";

/** Path of a required file -> its stamp; "absent" if it is not there. */
export type Stamps = ReadonlyMap<string, string>;

export function stampRequired(root: string, dir: string, stage: WorkStage): Stamps {
  return new Map(requiredFiles(stage).map((path) => [path, stampOf(root, join(dir, path))]));
}

function stampOf(root: string, path: string): string {
  const found = untampered(lookConfined(root, path));
  return found === undefined ? "absent" : `${found.ino}:${found.size}:${found.mtimeNs}:${found.ctimeNs}`;
}

/** Files that are missing or unchanged since before the attempt. `hasWork`: whether the stage has left any commit or diff. */
export function missingFiles(stage: WorkStage, before: Stamps, after: Stamps, hasWork: boolean): readonly string[] {
  const missing = [...before].flatMap(([path, earlier]) => {
    const now = after.get(path) ?? "absent";
    return now === "absent" || now === earlier ? [path] : [];
  });
  return mustWork(stage) && !hasWork ? [...missing, NO_WORK] : missing;
}

/** A stage that produces work: a pass without any commit or changed file is none. */
export function mustWork({ writes }: WorkStage): boolean {
  return writes.includes("git-commit");
}

export const NO_WORK = "any change (a commit or a diff)";

/** A handoff document must be inside the workspace, and no link on the way. A missing one is a warning on the stage. */
export function checkHandoff(root: string, dir: string, report: Report): Report {
  const { path, ...rest } = report;
  if (path === undefined || report.cause !== undefined) return report;
  const found = lookConfined(root, join(dir, path));
  if (!found.ok) return tamperedReport(found.error, rest);
  if (found.value !== undefined) return report;
  const warning = `handoff_file_missing: the handoff ${path} does not exist in the workspace`;
  return { ...report, warnings: [...(report.warnings ?? []), warning] };
}

/** Files that the flow says this stage writes; the reader of the verdict judges the verdict's own file. */
function requiredFiles(stage: WorkStage): readonly string[] {
  return stage.writes.filter(
    (name) => name !== "git-commit" && name !== stage.result.path && !name.startsWith("/") && !name.includes(".."),
  );
}
