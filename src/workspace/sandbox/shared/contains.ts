// Where a path lies, by its name alone: whoever asks has resolved links before, or wants the name.

import { sep } from "node:path";

/** Whether `path` is `folder` or lies in it. */
export function contains(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : `${folder}${sep}`);
}
