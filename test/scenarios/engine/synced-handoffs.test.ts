// The system calls of a run prove it: no agent's program starts while a write to the log of the store, or a commit of the agent before it, is
// not on the disk. Left out where there is no strace, or it may not trace.

import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import type { GitCase } from "../../harness/git-counts.ts";
import { GIT_DRIVER } from "../../harness/program.ts";

const canTrace = spawnSync("strace", ["-o", "/dev/null", "true"]).status === 0;

type Seen = { readonly started: number; readonly unsynced: number; readonly withoutSync: number };

const isAgent = (line: string): boolean => line.includes('execve("/bin/sh", ["/bin/sh", "-c", "PATH=');

/** Reads the lines of `strace -f -y`. A sync counts when it has returned, a write when it begins. */
function readTrace(trace: string): Seen {
  const syncing = new Set<string>();
  const log = { isDirty: false, syncs: 0 };
  const seen = { started: 0, unsynced: 0, withoutSync: 0 };
  const synced = (): void => {
    log.isDirty = false;
    log.syncs += 1;
  };
  for (const line of trace.split("\n")) {
    const [pid = ""] = line.split(" ", 1);
    const isLog = line.includes("passrail.db-wal>");
    if (/ p?write(?:64|v)?\(/u.test(line) && isLog) log.isDirty = true;
    else if (/ f(?:data)?sync\(/u.test(line) && isLog) {
      if (line.includes("<unfinished")) syncing.add(pid);
      else synced();
    } else if (/<\.\.\. f(?:data)?sync resumed>/u.test(line) && syncing.delete(pid)) synced();
    else if (isAgent(line)) {
      seen.started += 1;
      if (log.isDirty) seen.unsynced += 1;
      if (log.syncs === 0) seen.withoutSync += 1;
      log.syncs = 0;
    }
  }
  return seen;
}

test("a trace with a write that is not on the disk is recognised", () => {
  const agent = '7 execve("/bin/sh", ["/bin/sh", "-c", "PATH=';
  const write = "3 pwrite64(24</home/passrail.db-wal>, 4096) = 4096";
  const sync = "3 fdatasync(24</home/passrail.db-wal>) = 0";
  expect(readTrace([write, sync, agent].join("\n"))).toEqual({ started: 1, unsynced: 0, withoutSync: 0 });
  expect(readTrace([write, sync, write, agent].join("\n"))).toEqual({ started: 1, unsynced: 1, withoutSync: 0 });
  expect(readTrace([agent].join("\n"))).toEqual({ started: 1, unsynced: 0, withoutSync: 1 });
  const late = "3 fdatasync(24</home/passrail.db-wal> <unfinished ...>";
  expect(readTrace([write, late, agent].join("\n")).unsynced).toBe(1);
  const done = "3 <... fdatasync resumed>) = 0";
  expect(readTrace([write, late, done, agent].join("\n"))).toEqual({ started: 1, unsynced: 0, withoutSync: 0 });
});

test.skipIf(!canTrace)("no agent starts while its handoff is not on the disk", async () => {
  const { trace } = await traceRun({ mode: "in-place", per: "run", work: "nothing" });
  const { started, ...found } = readTrace(trace);
  expect(started).toBe(4);
  expect(found).toEqual({ unsynced: 0, withoutSync: 0 });
});

const WORK = [
  { mode: "worktree", per: "run", work: "changes" },
  { mode: "worktree", per: "stage", work: "commits" },
  { mode: "clone", per: "run", work: "commits" },
] as const;

test.skipIf(!canTrace).each(WORK)(
  "no agent starts before the commits of the one before it are on the disk: $mode per $per, $work",
  async (one) => {
    const { trace, commits } = await traceRun(one);
    const lines = trace.split("\n");
    const starts = lines.flatMap((line, at) => (isAgent(line) ? [at] : []));
    expect(starts).toHaveLength(5);
    expect(commits).toHaveLength(5);
    const late = commits.flatMap((objects, stage) => {
      expect(objects.length).toBeGreaterThanOrEqual(3);
      const before = lines.slice(0, starts[stage + 1]);
      const synced = new Set(before.flatMap((line) => SYNCED_OBJECT.exec(line)?.slice(1).join("") ?? []));
      return objects.filter((id) => !synced.has(id));
    });
    expect(late).toEqual([]);
  },
);

/** By its final name: git's own syncs name its drafts. */
const SYNCED_OBJECT = / fsync\(\d+<[^>]*\/objects\/([0-9a-f]{2})\/([0-9a-f]{38})>/u;

type Traced = {
  readonly trace: string;
  /** Of each commit of the run, the objects that are new in it; oldest commit first. */
  readonly commits: readonly (readonly string[])[];
};

async function traceRun(one: GitCase): Promise<Traced> {
  const dir = mkdtempSync(join(tmpdir(), "passrail-synced-"));
  try {
    const [trace, log] = [join(dir, "trace"), join(dir, "log")];
    const asked = JSON.stringify({ ...one, objects: one.work !== "nothing", log, path: process.env["PATH"] });
    // Without --seccomp-bpf every call stops the program, not only these.
    const traced = ["-f", "--seccomp-bpf", "-y", "-s", "64", "-e", "trace=pwrite64,pwritev,fsync,fdatasync,execve"];
    const env = { ...process.env, TMPDIR: dir };
    await promisify(execFile)("strace", [...traced, "-o", trace, process.execPath, GIT_DRIVER, asked], { env });
    const objects = readFileSync(log, "utf8").matchAll(/^commit (.+)$/gmu);
    return { trace: readFileSync(trace, "utf8"), commits: [...objects].map(([, ids = ""]) => ids.split(" ")) };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}
