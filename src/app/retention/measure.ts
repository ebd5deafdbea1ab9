// The size of the state folder on disk, by kind of content. The walk over many files never blocks the process and never follows a link.

import { lstat, opendir } from "node:fs/promises";
import { join } from "node:path";
import { sizeOfBytes } from "../../core/retention/retention.ts";

export type DiskUse = {
  readonly measuredAt: string;
  /** Bytes by what they are; `files` are those of attempts. */
  readonly files: number;
  readonly workspaces: number;
  readonly store: number;
  readonly logs: number;
  readonly other: number;
};

const WORKSPACES: ReadonlySet<string> = new Set(["worktrees", "clones", "joint", "caches", "left", "quarantine"]);

export async function measureDisk(home: string, measuredAt: string): Promise<DiskUse> {
  const use = { files: 0, workspaces: 0, store: 0, logs: 0, other: 0 };
  for (const name of await names(home)) use[kindOf(name)] += await bytesBelow(join(home, name));
  return { measuredAt, ...use };
}

function totalOf({ measuredAt: _at, ...use }: DiskUse): number {
  return Object.values(use).reduce((sum, bytes) => sum + bytes, 0);
}

/** For people: `1.2 GB (files of attempts 1.0 GB, …)`. */
export function diskText(use: DiskUse): string {
  const parts = [
    ["files of attempts", use.files],
    ["workspaces", use.workspaces],
    ["store", use.store],
    ["logs", use.logs],
  ] as const;
  const named = parts.filter(([, bytes]) => bytes > 0).map(([name, bytes]) => `${name} ${sizeOfBytes(bytes)}`);
  const total = sizeOfBytes(totalOf(use));
  return named.length === 0 ? total : `${total} (${named.join(", ")})`;
}

function kindOf(name: string): Exclude<keyof DiskUse, "measuredAt"> {
  if (name === "runs") return "files";
  if (WORKSPACES.has(name)) return "workspaces";
  if (name.startsWith("passrail.db")) return "store";
  return name === "logs" ? "logs" : "other";
}

/** The size of a file or a folder, as the disk counts it. A removed one counts as 0. */
export async function bytesBelow(path: string): Promise<number> {
  const stat = await lstat(path).catch(() => undefined);
  if (stat === undefined) return 0;
  // Blocks of 512 bytes; a file with a hole takes less than its length.
  const own = stat.blocks * 512;
  if (!stat.isDirectory()) return own;
  let sum = own;
  for (const name of await names(path)) sum += await bytesBelow(join(path, name));
  return sum;
}

export async function names(folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  try {
    for await (const entry of await opendir(folder)) found.push(entry.name);
  } catch {
    // Gone meanwhile, or not a folder.
  }
  return found;
}
