// Which processes exist, and which are ours. Pids are reused, so pid and start time together identify a process, and the marker in its
// environment names its attempt.

import { existsSync } from "node:fs";
import type { ProcessEntry, ProcessSource } from "./process-source.ts";
import { procSource } from "./proc-source.ts";
import { psSource } from "./ps-source.ts";
import { MARKER_VARIABLE, type ProcessIdentity } from "../runner.ts";

const source: ProcessSource = existsSync("/proc/self/stat") ? procSource : psSource;

/** The start time of the process, in the system's own format; undefined if there is no such process. */
export const identify = (pid: number): ProcessIdentity["startTime"] | undefined => source.entry(pid)?.startTime;

/** True only for the very process that was recorded: same pid, same start time, not a zombie. */
export const isAlive = (identity: Pick<ProcessIdentity, "pid" | "startTime">): boolean => {
  const entry = source.entry(identity.pid);
  return entry !== undefined && !entry.dead && entry.startTime === identity.startTime;
};

/** False for a process of before the last start of the machine: its number means nothing any more. */
export const isSinceBoot = ({ startTime }: Pick<ProcessIdentity, "startTime">): boolean =>
  source.isSinceBoot(startTime);

let last: { readonly atMs: number; readonly entries: readonly ProcessEntry[] } | undefined;

/** Every process but this one, zombies included. */
export const listProcesses = (): ProcessEntry[] => {
  const entries = source.list().filter((entry) => entry.pid !== process.pid);
  last = { atMs: performance.now(), entries };
  return entries;
};

/** The same, or what the last look saw if that was a moment ago: each looks at every process of the machine. */
export const listedLately = (mostMs: number): readonly ProcessEntry[] =>
  last !== undefined && performance.now() - last.atMs <= mostMs ? last.entries : listProcesses();

let ownStart: string | undefined;

/** Without those that began before this process, where the system can tell: it cannot have given its marker to any of them. */
export const begunSince = (entries: readonly ProcessEntry[]): readonly ProcessEntry[] => {
  const own = (ownStart ??= identify(process.pid));
  return own === undefined ? entries : entries.filter(({ startTime }) => !source.isEarlier(startTime, own));
};

/** The markers of those of the given processes that carry one. */
export const markersOf = (entries: readonly ProcessEntry[]): Map<number, string> =>
  source.markers(
    entries.filter((entry) => !entry.dead).map((entry) => entry.pid),
    MARKER_VARIABLE,
  );

/** All living processes whose marker begins with `prefix`: a restarted engine finds those of its own store. */
export const findMarked = (prefix: string): { pid: number; marker: string }[] =>
  [...markersOf(listProcesses())]
    .map(([pid, marker]) => ({ pid, marker }))
    .filter(({ marker }) => marker.startsWith(prefix));
