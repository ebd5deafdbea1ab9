// Permissions for `doctor`: the user's own settings name programs, so no other user may write them. The state folder has a line of its own.

import { chmodSync, lstatSync } from "node:fs";
import { type Environment, userFolder, userSettingsFile } from "../../settings/site.ts";
import { type Checkup, doubtful, good } from "./checkup.ts";

const WRITING_OF_OTHERS = 0o022;

type Open = { readonly path: string; readonly mode: number };

export function lookAtPermissions(environment: Environment): Checkup {
  const open = [userFolder(environment), userSettingsFile(environment)].flatMap(openToWriters);
  if (open.length === 0) return good("permissions", "only you can change your own settings");
  const paths = open.map(({ path }) => path).join(" ");
  return {
    ...doubtful("permissions", `other users can change ${paths}, which name programs`, `chmod go-w ${paths}`),
    mend() {
      for (const { path, mode } of open) chmodSync(path, mode);
      return `only you can change ${paths} now`;
    },
  };
}

/** Files and folders of this user; a link is another file's matter. */
function openToWriters(path: string): readonly Open[] {
  try {
    const stat = lstatSync(path);
    const isOwn = (stat.isFile() || stat.isDirectory()) && stat.uid === process.getuid?.();
    const isOpen = isOwn && (stat.mode & WRITING_OF_OTHERS) !== 0;
    return isOpen ? [{ path, mode: stat.mode & 0o777 & ~WRITING_OF_OTHERS }] : [];
  } catch {
    return [];
  }
}
