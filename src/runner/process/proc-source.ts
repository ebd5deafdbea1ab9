// Linux: reads processes from /proc. Every read may race with an exit: "gone" is an answer, never an error. Other systems use ps-source.ts,
// which has the same three functions.

import { readdirSync, readFileSync, statSync } from "node:fs";
import type { ProcessEntry, ProcessSource } from "./process-source.ts";

export const procSource: ProcessSource = {
  list: () =>
    readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map((name) => readEntry(Number(name)))
      .filter((entry) => entry !== undefined),
  entry: (pid) => readEntry(pid),
  markers: (pids, variable) => {
    const found = new Map<number, string>();
    for (const pid of pids) {
      const value = readVariable(pid, variable);
      if (value !== undefined) found.set(pid, value);
    }
    return found;
  },
};

const readEntry = (pid: number): ProcessEntry | undefined => {
  const stat = unlessGone(() => readFileSync(`/proc/${pid}/stat`, "latin1"));
  if (stat === undefined) return undefined;
  // The second field is the program's name in parentheses and may itself hold spaces and parentheses.
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const [state, parentPid, groupId, sessionId] = fields;
  const startTicks = fields[19];
  if (startTicks === undefined) return undefined;
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
  const path = `/proc/${pid}/environ`;
  // Only processes of our own user: root could read all, but no attempt runs as another user.
  const owner = unlessGone(() => statSync(path).uid);
  if (owner === undefined || owner !== process.getuid?.()) return undefined;
  const environment = unlessGone(() => readFileSync(path));
  if (environment === undefined || !environment.includes(`${variable}=`)) return undefined;
  const entry = environment
    .toString("utf8")
    .split("\0")
    .find((line) => line.startsWith(`${variable}=`));
  return entry?.slice(variable.length + 1);
};

// Start times count from the boot, so a number from before a reboot must not match one after it.
let cachedBootId: string | undefined;
const bootId = (): string => (cachedBootId ??= readFileSync("/proc/sys/kernel/random/boot_id", "latin1").trim());

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
