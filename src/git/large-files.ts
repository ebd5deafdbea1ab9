// Files that are too large to be committed or shown. git would read each of them whole before it could refuse one, so their sizes are read
// first; an agent makes a file of many gigabytes in no time.

import { lstat } from "node:fs/promises";
import type { Problem } from "../core/result.ts";

export type WorkLimits = {
  /** Of one file. */
  readonly fileBytes: number;
  /** Of all new and changed files together. */
  readonly workBytes: number;
};

export const WORK_LIMITS: WorkLimits = { fileBytes: 256 * 1024 ** 2, workBytes: 2 * 1024 ** 3 };

/** Path below the folder (latin1) and bytes. */
export type LargeFile = { readonly path: string; readonly bytes: number };

export type Sized = {
  readonly large: readonly LargeFile[];
  /** Of all the other files together. */
  readonly bytes: number;
};

/** Of the new and changed files (paths below `dir`) those that do not fit: above the limit of one file, then the largest until the rest fits. */
export async function findLarge(
  dir: string,
  paths: Iterable<string>,
  { fileBytes, workBytes }: WorkLimits,
): Promise<Sized> {
  const sized: LargeFile[] = [];
  for (const path of new Set(paths)) {
    if (path.endsWith("/")) continue;
    const found = await lstat(Buffer.from(`${dir}/${path}`, "latin1")).catch(() => null);
    if (found?.isFile() === true && found.size > 0) sized.push({ path, bytes: found.size });
  }
  let total = sized.reduce((sum, { bytes }) => sum + bytes, 0);
  const large: LargeFile[] = [];
  for (const file of sized.sort((a, b) => b.bytes - a.bytes)) {
    if (file.bytes <= fileBytes && total <= workBytes) break;
    large.push(file);
    total -= file.bytes;
  }
  return { large, bytes: total };
}

export function fileTooLarge(top: string, large: readonly LargeFile[]): Problem {
  const shown = large.slice(0, 5).map(({ path, bytes }) => `${nameOf(path)} (${Math.ceil(bytes / 1024 ** 2)} MiB)`);
  return {
    code: "file_too_large",
    message: `The work in ${top} is too large to be committed: ${shown.join(", ")}${large.length > 5 ? " and more" : ""}.`,
    hint: "Let git ignore it, or raise workspaces.max_file and workspaces.max_work",
  };
}

/** A name on one line. */
export function nameOf(path: string): string {
  return Buffer.from(path, "latin1")
    .toString("utf8")
    .replace(/\p{Cc}/gu, "?")
    .slice(0, 200);
}
