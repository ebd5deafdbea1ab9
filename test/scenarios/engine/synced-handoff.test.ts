// What the system calls of a whole run say: when an agent's program starts, everything that was written to the store before is on the disk.

import { execFile, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";

const DRIVER = join(import.meta.dirname, "..", "..", "harness", "git-driver.ts");
// Without --seccomp-bpf every call stops the program, not only these.
const CALLS = "trace=pwrite64,pwritev,fsync,fdatasync,execve";

/** Some containers have the program and do not let it trace. */
const hasStrace = spawnSync("strace", ["-o", "/dev/null", "true"]).status === 0;

type Trace = {
  /** Agents that started. */
  readonly starts: number;
  /** Of these, those that started while a write to the store was not synced. */
  readonly early: readonly string[];
  readonly writes: number;
  readonly syncs: number;
};

/** `log`: what the agents' command lines mention. */
function readTrace(text: string, log: string): Trace {
  const dirty = new Set<string>();
  const early: string[] = [];
  /** By thread, the file whose sync has begun and not ended. */
  const syncing = new Map<string, string>();
  const count = { starts: 0, writes: 0, syncs: 0 };
  for (const line of text.split("\n")) {
    const [thread = "", call = ""] = /^(\d+) +(.*)$/u.exec(line)?.slice(1) ?? [];
    const name = /^(?:<\.\.\. )?(\w+)/u.exec(call)?.[1] ?? "";
    const file = /^\w+\(\d+<([^>]*passrail\.db-wal)>/u.exec(call)?.[1];
    const isOver = call.endsWith(" = 0");
    if (name.endsWith("sync")) {
      const synced = file ?? syncing.get(thread);
      if (synced === undefined) continue;
      syncing.set(thread, synced);
      if (!isOver) continue;
      syncing.delete(thread);
      dirty.delete(synced);
      count.syncs += 1;
    } else if (name === "execve") {
      if (!call.includes(log) || call.startsWith("<...")) continue;
      count.starts += 1;
      if (dirty.size > 0) early.push(line);
    } else if (file !== undefined) {
      dirty.add(file);
      count.writes += 1;
    }
  }
  return { ...count, early };
}

describe.skipIf(!hasStrace)("the system calls of a run (left out where strace cannot trace)", () => {
  test("R-X-05: no agent starts while its handoff is not synced", async () => {
    const dir = mkdtempSync(join(tmpdir(), "passrail-strace-"));
    try {
      const [log, trace] = [join(dir, "log"), join(dir, "trace")];
      const path = process.env["PATH"] ?? "";
      const job = { mode: "worktree", per: "run", work: "changes", log, path };
      const args = [
        "-f",
        "--seccomp-bpf",
        "-qq",
        "-y",
        "-s",
        "4096",
        "-e",
        CALLS,
        "-o",
        trace,
        process.execPath,
        DRIVER,
      ];
      await promisify(execFile)("strace", [...args, JSON.stringify(job)], { env: { ...process.env, TMPDIR: dir } });
      const seen = readTrace(readFileSync(trace, "utf8"), `>> '${log}'`);
      expect(seen.early).toEqual([]);
      // Five stages, each with its start and its end.
      expect(seen.starts).toBe(5);
      expect(seen.syncs).toBeGreaterThanOrEqual(10);
      expect(seen.writes).toBeGreaterThanOrEqual(seen.syncs);
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
});

describe("the reader of the trace", () => {
  const write = '7 pwrite64(24</h/passrail.db-wal>, "…", 4096, 0) = 4096';
  const start = '9 execve("/bin/sh", ["/bin/sh", "-c", "date >> /log"], 0x0 /* 3 vars */) = 0';
  test.for([
    { name: "a start after the sync", lines: [write, "7 fdatasync(24</h/passrail.db-wal>) = 0", start], early: 0 },
    { name: "a start after the write", lines: [write, start], early: 1 },
    {
      name: "a start during the sync",
      lines: [write, "7 fsync(24</h/passrail.db-wal> <unfinished ...>", start],
      early: 1,
    },
    {
      name: "a sync that was interrupted by other lines",
      lines: [write, "7 fsync(24</h/passrail.db-wal> <unfinished ...>", "7 <... fsync resumed>) = 0", start],
      early: 0,
    },
    { name: "the sync of another file", lines: [write, "7 fsync(25</h/prompt.md>) = 0", start], early: 1 },
    {
      name: "a sync that failed",
      lines: [write, "7 fsync(24</h/passrail.db-wal>) = -1 EIO (Input/output error)", start],
      early: 1,
    },
  ])("$name: $early too early", ({ lines, early }) => {
    const seen = readTrace(lines.join("\n"), "/log");
    expect(seen.early.length).toBe(early);
    expect(seen.starts).toBe(1);
  });
});
