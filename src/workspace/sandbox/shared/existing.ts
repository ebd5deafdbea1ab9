// Of some files and folders those that exist: a sandbox cannot mount a missing one.

import { stat } from "node:fs/promises";

export async function existing(paths: readonly string[]): Promise<readonly string[]> {
  const found = await Promise.all(paths.map((path) => stat(path).catch(() => null)));
  return paths.filter((_, index) => found[index] !== null);
}
