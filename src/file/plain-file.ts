// A plain file inside a folder, opened for reading. Links, pipes and devices are not followed, because an agent may have put one in its place.

import { constants } from "node:fs";
import { type FileHandle, open } from "node:fs/promises";
import { lookConfined } from "./confined.ts";

export type OpenedFile = { readonly handle: FileHandle; readonly size: number };

/** Undefined if it is missing, not a plain file, or outside the folder. */
export async function openPlain(folder: string, path: string): Promise<OpenedFile | undefined> {
  const found = lookConfined(folder, path);
  if (!found.ok || found.value?.isFile() !== true) return undefined;
  let handle: FileHandle;
  try {
    handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  const stat = await handle.stat();
  if (stat.isFile() && stat.nlink === 1) return { handle, size: stat.size };
  await handle.close();
  return undefined;
}
