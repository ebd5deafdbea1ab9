// Claims unique ticket numbers in sequence, even when several processes ask at once.

import { lstat, mkdir, readdir, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { ticketNumber } from "../../core/ticket/ticket.ts";

const CLAIMS = ".numbers";

export type ClaimedNumbers = { readonly first: number; readonly release: () => Promise<void> };

/**
 * A claim is a folder, because making one is atomic. After claiming it looks again, because another process may have written its files and
 * released its claims in between. A crash only leaves a gap.
 */
export async function claimNumbers(root: string, prefix: string, count: number): Promise<ClaimedNumbers> {
  await mkdir(join(root, CLAIMS), { recursive: true });
  if ((await lstat(join(root, CLAIMS))).isSymbolicLink())
    throw new Error(`${join(root, CLAIMS)} is a link. Remove it.`);
  for (;;) {
    const first = Math.max(await highestNumber(root, prefix), highest(await readdir(join(root, CLAIMS)), prefix)) + 1;
    let claimed = 0;
    while (claimed < count && (await claim(join(root, CLAIMS, `${prefix}-${first + claimed}.md`)))) claimed++;
    const release = async (): Promise<void> => {
      for (let index = 0; index < claimed; index++) await rmdir(join(root, CLAIMS, `${prefix}-${first + index}.md`));
    };
    if (claimed === count && (await highestNumber(root, prefix)) < first) return { first, release };
    await release();
  }
}

async function claim(folder: string): Promise<boolean> {
  try {
    await mkdir(folder);
    return true;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw cause;
  }
}

/** Over all folders of requests. */
async function highestNumber(root: string, prefix: string): Promise<number> {
  const folders = (await readdir(root)).filter((name) => !name.startsWith("."));
  let found = 0;
  for (const name of folders)
    found = Math.max(found, highest(await readdir(join(root, name)).catch(() => [] as string[]), prefix));
  return found;
}

function highest(names: readonly string[], prefix: string): number {
  return names.reduce((most, name) => Math.max(most, numberOfFile(name, prefix) ?? 0), 0);
}

export function numberOfFile(name: string, prefix: string): number | undefined {
  return name.endsWith(".md") ? ticketNumber(name.slice(0, -".md".length), prefix) : undefined;
}
