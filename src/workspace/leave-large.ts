// A workspace always closes: files that are too large for a commit are moved beside the others' remains, so that nothing is lost and nothing
// is copied.

import { mkdir, rename } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { err, messageOf, ok, type Result } from "../core/result.ts";
import type { LargeFile } from "../git/large-files.ts";

export type LeaveLarge = (top: string, large: readonly LargeFile[]) => Promise<Result<null>>;

/** To left/<workspace>/ of the state folder, numbered, under their own names. */
export function leaveLarge(root: string, key: string): LeaveLarge {
  return async (top, large) => {
    const folder = join(dirname(root), "left", key);
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      for (const [index, { path }] of large.entries()) {
        const name = `${Date.now()}-${index}-${basename(path)}`;
        // Moves the name itself; git lists no file behind a link.
        await rename(Buffer.from(`${top}/${path}`, "latin1"), Buffer.from(`${folder}/${name}`, "latin1"));
      }
      return ok(null);
    } catch (error) {
      return err({
        code: "workspace_not_removed",
        message: `Files of ${top} are too large to be pinned and could not be moved to ${folder}: ${messageOf(error)}.`,
        hint: `Move them yourself and close again: passrail workspace clean`,
      });
    }
  };
}
