// The paths that differ between two commits, with git's file modes. Complete where a diff for people would be cut.

import { err, ok, type Result } from "../core/result.ts";
import type { ChangedPath } from "../core/view/marked-changes.ts";
import { git } from "./git.ts";

const MAX_BYTES = 64 * 1024 * 1024;
const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/u;
const GONE = "000000";

export async function changedPaths(project: string, from: string, to: string): Promise<Result<readonly ChangedPath[]>> {
  if (!COMMIT.test(from) || !COMMIT.test(to))
    return err({ code: "invalid_revision", message: "there are no commits to compare" });
  const format = ["--raw", "-z", "--no-renames", "--no-ext-diff", "--no-textconv", "--ignore-submodules=none"];
  const listed = await git(project, ["diff", ...format, "--end-of-options", from, to, "--"], { maxBytes: MAX_BYTES });
  return listed.ok ? ok(pathsIn(listed.value)) : listed;
}

/** `:100644 100755 <id> <id> M` NUL path NUL … */
function pathsIn(raw: string): readonly ChangedPath[] {
  const parts = raw.split("\0");
  const found: ChangedPath[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    const [before = "", after = ""] = (parts[at] ?? "").replace(/^:/u, "").split(" ");
    found.push({ path: parts[at + 1] ?? "", mode: after === GONE ? before : after });
  }
  return found;
}
