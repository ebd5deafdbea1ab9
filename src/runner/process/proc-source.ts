// Linux: reads processes from /proc. Every read may race with an exit: "gone" is an answer, never an error. Other systems use ps-source.ts,
// which has the same three functions.

import { closeSync, fstatSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import type { ProcessEntry, ProcessSource } from "./process-source.ts";

export const procSource: ProcessSource = {
  list: () =>
    readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map((name) => readEntry(Number(name)))
      .filter((entry) => entry !== undefined),
  entry: (pid) => readEntry(pid),
  isSinceBoot: (startTime) => startTime.startsWith(`${bootId()}:`),
  isEarlier: (startTime, other) => ticksOf(startTime) < ticksOf(other),
  markers: (pids, variable) => {
    const found = new Map<number, string>();
    for (const pid of pids) {
      const value = readVariable(pid, variable);
      if (value !== undefined) found.set(pid, value);
    }
    return found;
  },
};

/** PF_KTHREAD: threads of the kernel are in the table, and a third of it on a small machine. They are nobody's program. */
const KERNEL_THREAD = 0x200000;

const readEntry = (pid: number): ProcessEntry | undefined => {
  const stat = readWhole(pid, "stat");
  if (stat === undefined) return undefined;
  // The second field is the program's name in parentheses and may itself hold spaces and parentheses.
  const fields = stat
    .subarray(stat.lastIndexOf(")") + 2)
    .toString("latin1")
    .split(" ");
  const [state, parentPid, groupId, sessionId] = fields;
  const startTicks = fields[19];
  if (startTicks === undefined || (Number(fields[6]) & KERNEL_THREAD) !== 0) return undefined;
  return {
    pid,
    parentPid: Number(parentPid),
    groupId: Number(groupId),
    sessionId: Number(sessionId),
    startTime: `${bootId()}:${startTicks}`,
    dead: state === "Z" || state === "X",
  };
};

const readVariable = (pid: number, variable: string): string | undefined => {
  const environment = readWhole(pid, "environ");
  if (environment === undefined || !environment.includes(`${variable}=`)) return undefined;
  const entry = environment
    .toString("utf8")
    .split("\0")
    .find((line) => line.startsWith(`${variable}=`));
  return entry?.slice(variable.length + 1);
};

// Every attempt reads the whole table several times, so this is the shortest way to read a file of /proc: one buffer for all.
let buffer = Buffer.allocUnsafe(64 * 1024);

/** The file's content until the next call; undefined if the process is gone or of another user: root could read all, but no attempt runs as another user. */
const readWhole = (pid: number, name: "stat" | "environ"): Buffer | undefined =>
  unlessGone(() => {
    const file = openSync(`/proc/${pid}/${name}`, "r");
    try {
      if (name === "environ" && fstatSync(file).uid !== process.getuid?.()) return undefined;
      for (let length = 0; ; ) {
        const more = readSync(file, buffer, length, buffer.length - length, null);
        length += more;
        // A line of `stat` comes in one piece.
        if (more === 0 || name === "stat") return buffer.subarray(0, length);
        if (length === buffer.length) buffer = Buffer.concat([buffer], 2 * buffer.length);
      }
    } finally {
      closeSync(file);
    }
  });

// Start times count from the boot, so a number from before a reboot must not match one after it.
let cachedBootId: string | undefined;
const bootId = (): string => (cachedBootId ??= readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim());

/** NaN for a process of another boot: it is neither earlier nor later. */
const ticksOf = (startTime: string): number =>
  procSource.isSinceBoot(startTime) ? Number(startTime.slice(bootId().length + 1)) : Number.NaN;

const GONE = new Set(["ENOENT", "ESRCH", "EACCES", "EPERM"]);

// Any other error (such as too many open files) must not look like "there is no such process".
const unlessGone = <T>(read: () => T): T | undefined => {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && "code" in error && GONE.has(String(error.code))) return undefined;
    throw error;
  }
};
