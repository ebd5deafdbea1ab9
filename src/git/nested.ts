// A repository inside a workspace (a submodule, a clone, an agent's `git init`): a pin holds only its commit id, so removing the workspace
// would remove its work. This checks whether it holds anything that exists nowhere else.

import { join } from "node:path";
import { git } from "./git.ts";

/** True when the nested repository is clean and all its commits are on a remote; doubt counts as false. */
export async function isExpendable(top: string, path: string): Promise<boolean> {
  const dir = join(top, Buffer.from(path, "latin1").toString("utf8"));
  // Only one level: `git status` would run inside deeper ones under their own configuration.
  const files = await git(dir, ["ls-files", "--stage"], { encoding: "latin1" });
  if (!files.ok || /^160000 /mu.test(files.value)) return false;
  const status = await git(dir, ["status", "--porcelain", "--untracked-files=normal"], { touchesFiles: true });
  if (!status.ok || status.value !== "") return false;
  const own = await git(dir, ["rev-list", "--max-count=1", "--all", "HEAD", "--not", "--remotes"]);
  return own.ok && own.value === "";
}
