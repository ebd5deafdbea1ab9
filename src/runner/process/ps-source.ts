// Systems without /proc, such as macOS: reads processes from `ps`. Weaker than /proc: start times have whole seconds, sessions are unknown,
// the environment of protected system programs is hidden, and an argument that looks like the marker counts as the marker. Process group
// and ancestry still find the missed ones while the parent lives.

import { spawnSync } from "node:child_process";
import type { ProcessEntry, ProcessSource } from "./process-source.ts";

const COLUMNS = "pid=,ppid=,pgid=,stat=,lstart=";

export const psSource: ProcessSource = {
  list: () =>
    ps(["-A", "-o", COLUMNS])
      .map(parseEntry)
      .filter((entry) => entry !== undefined),
  entry: (pid) => {
    const [line] = ps(["-p", String(pid), "-o", COLUMNS]);
    return line === undefined ? undefined : parseEntry(line);
  },
  isSinceBoot: () => true,
  isEarlier: () => false,
  markers: (pids, variable) => {
    const wanted = new Set(pids);
    const found = new Map<number, string>();
    for (const line of ps(["axeww", "-o", "pid=,uid=,command="])) {
      const [pid, uid] = line.split(/\s+/, 2).map(Number);
      if (pid === undefined || uid !== process.getuid?.() || !wanted.has(pid)) continue;
      const at = line.indexOf(` ${variable}=`);
      if (at >= 0) found.set(pid, line.slice(at + variable.length + 2).split(" ", 1)[0] ?? "");
    }
    return found;
  },
};

const parseEntry = (line: string): ProcessEntry | undefined => {
  const [pid, parentPid, groupId, stat, ...startTime] = line.split(/\s+/);
  if (pid === undefined || stat === undefined || startTime.length === 0) return undefined;
  return {
    pid: Number(pid),
    parentPid: Number(parentPid),
    groupId: Number(groupId),
    sessionId: 0,
    startTime: startTime.join(" "),
    dead: stat.startsWith("Z"),
  };
};

const ps = (args: string[]): string[] => {
  // A fixed language and time zone: the start time is stored and compared as text, perhaps by a later daemon.
  const result = spawnSync("/bin/ps", args, {
    env: { LC_ALL: "C", TZ: "UTC" },
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    timeout: 5_000,
  });
  // An empty list would read as "nothing is left". ps exits with 1 when the requested pid does not exist.
  if (result.error !== undefined) throw new Error("Could not list processes with /bin/ps.", { cause: result.error });
  return result.stdout
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
};
