// Processes that an attempt left behind although everything that can be told to be its own was ended: one that cleared its environment, left
// its session and lost its parent has nothing in common with the attempt any more, except the folder in which it works. Such a process is
// reported and not ended: it may be a person's. Only on systems with /proc.

import { readFileSync, readlinkSync, statSync } from "node:fs";
import { sep } from "node:path";
import type { Stray } from "../runner.ts";
import { listedLately } from "./process-table.ts";

/**
 * The end of a program has just looked at all processes, when nothing that could be told to be its own was left: neither the strays of that
 * attempt nor those before the next one need another look. What lost its parent within this time counts as started since the attempt began.
 */
const LATELY_MS = 500;

/** Called when an attempt begins; the result finds the processes that started since then and work in a folder. */
export function watchStrays(): (folder: string) => readonly Stray[] {
  const known = new Set(listedLately(LATELY_MS).map(identityOf));
  return (folder) =>
    listedLately(LATELY_MS).flatMap((entry) => {
      if (entry.dead || known.has(identityOf(entry)) || !isOrphan(entry.parentPid)) return [];
      if (!worksIn(entry.pid, folder)) return [];
      return [{ pid: entry.pid, startTime: entry.startTime, name: nameOf(entry.pid) }];
    });
}

function identityOf({ pid, startTime }: { readonly pid: number; readonly startTime: string }): string {
  return `${pid} ${startTime}`;
}

const REAPERS: ReadonlySet<string> = new Set(["systemd", "init", "tini", "dumb-init"]);

/** Its parent is gone. A person's programs in the same folder belong to a terminal or an editor. */
function isOrphan(parentPid: number): boolean {
  return parentPid === 1 || REAPERS.has(nameOf(parentPid));
}

/** Also after the folder was removed: the link then ends with a remark. */
function worksIn(pid: number, folder: string): boolean {
  try {
    if (statSync(`/proc/${pid}`).uid !== process.getuid?.()) return false;
    const place = readlinkSync(`/proc/${pid}/cwd`);
    return place === folder || place === `${folder} (deleted)` || place.startsWith(`${folder}${sep}`);
  } catch {
    // It is gone, or there is no /proc.
    return false;
  }
}

function nameOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim().slice(0, 40);
  } catch {
    return "unknown";
  }
}
