import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { until } from "../../../test/fixtures/agents/try-agent.ts";
import { procSource } from "./proc-source.ts";
import type { ProcessSource } from "./process-source.ts";
import { psSource } from "./ps-source.ts";

const sources: [string, ProcessSource][] = [["ps", psSource]];
if (existsSync("/proc/self/stat")) sources.push(["/proc", procSource]);

let child: ReturnType<typeof start>;
const start = () =>
  spawn("/bin/sh", ["-c", "sleep 1000; true"], {
    detached: true,
    stdio: "ignore",
    env: { A: "1", TEST_MARKER: "m:1", B: "2" },
  });
beforeEach(() => {
  child = start();
});
afterEach(() => {
  process.kill(-(child.pid as number), "SIGKILL");
});

describe.each(sources)("what %s says", (_name, source) => {
  test("a process has its parent, its group and a start time that does not change", () => {
    const pid = child.pid as number;
    const entry = source.entry(pid);
    expect(entry).toMatchObject({ pid, parentPid: process.pid, groupId: pid, dead: false });
    expect(entry?.startTime).not.toBe("");
    expect(source.list().find((other) => other.pid === pid)).toEqual(entry);
  });

  test("R-X-05: a start time of this boot is told from one before a restart of the machine, where the system can tell", () => {
    const { startTime = "" } = source.entry(child.pid as number) ?? {};
    expect(source.isSinceBoot(startTime)).toBe(true);
    const before = startTime.replace(/^[0-9a-f-]{36}/u, "00000000-0000-4000-8000-000000000000");
    expect(source.isSinceBoot(before)).toBe(before === startTime);
  });

  test("a process began before its child, where the system can tell, and none before itself or before the last start of the machine", () => {
    const { startTime: own = "" } = source.entry(process.pid) ?? {};
    const { startTime = "" } = source.entry(child.pid as number) ?? {};
    expect(source.isEarlier(own, startTime)).toBe(source === procSource);
    expect(source.isEarlier(startTime, own)).toBe(false);
    expect(source.isEarlier(own, own)).toBe(false);
    const before = own.replace(/^[0-9a-f-]{36}/u, "00000000-0000-4000-8000-000000000000");
    expect([source.isEarlier(before, startTime), source.isEarlier(startTime, before)]).toEqual([false, false]);
  });

  test("a child of a child is in the group of its parent and carries the same variable", async () => {
    const pid = child.pid as number;
    const members = () => source.list().filter((entry) => entry.groupId === pid);
    await until(() => members().length === 2, "the shell has started its child");
    const pids = members().map((entry) => entry.pid);
    await until(() => source.markers(pids, "TEST_MARKER").size === 2, "both run their own program");
    expect([...source.markers([pid], "TEST_MARKER")]).toEqual([[pid, "m:1"]]);
    expect(source.markers([pid], "MARKER").size).toBe(0);
  });

  test("a process that does not exist is no entry", () => {
    expect(source.entry(2 ** 22 + 1)).toBeUndefined();
  });
});
