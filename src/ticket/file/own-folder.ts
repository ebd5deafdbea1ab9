// Whether the folder of tickets is really where its path says: no part of it below the project is a link, through which Passrail would read
// and write other files.

import { realpathSync } from "node:fs";
import { join } from "node:path";
import type { Problem } from "../../core/result.ts";

/** A folder that does not exist yet passes. */
export function isOwnFolder(project: string, folder: string): boolean {
  try {
    return realpathSync(join(project, folder)) === join(realpathSync(project), folder);
  } catch (cause) {
    return (cause as NodeJS.ErrnoException).code === "ENOENT";
  }
}

export const FOLDER_INVALID: Problem = {
  code: "tickets_folder_invalid",
  message: "tickets are not read or written through links",
  hint: "make it a folder of the project, or name another under tickets.folder",
};
