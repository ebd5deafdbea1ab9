// Compares paths as text: the caller has resolved links, or wants the name.

import { sep } from "node:path";

/** Whether `path` is `folder` or inside it. */
export function contains(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}
