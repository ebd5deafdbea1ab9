import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { agent, type Bench, openBench, processIn, until } from "../../../test/fixtures/agents/try-agent.ts";
import {
  cgroupProblem,
  createCgroup,
  killCgroup,
  prepareToEnter,
  removeCgroup,
  startInside,
  untilStill,
} from "./cgroup.ts";
import { killLeftovers } from "./kill-tree.ts";
import { findMarked, identify, isAlive } from "./process-table.ts";
import { partMarker, type ProcessIdentity } from "../runner.ts";

let bench: Bench;
const strays: ChildProcess[] = [];
beforeEach(() => {
  bench = openBench();
});
afterEach(() => {
  for (const stray of strays.splice(0)) stray.kill("SIGKILL");
  bench.close();
});

/** A process as an earlier daemon would have left it: in its own group, with a marker. */
const leave = async (marker: string, argv = agent("ignores-term")): Promise<ProcessIdentity> => {
  const [command, ...args] = argv;
  const child = spawn(command, args, {
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
    env: { PATH: process.env["PATH"], PASSRAIL_MARKER: marker },
  });
  strays.push(child);
  // Its first line: it is fully started.
  await once(child.stdout as NodeJS.ReadableStream, "data");
  const pid = child.pid as number;
  return { pid, startTime: identify(pid) as string, marker };
};

describe.runIf(process.platform === "linux" && cgroupProblem() === null)("held by a cgroup", () => {
  // Nothing of what it starts can be told to be its own: no parent, no session, no environment.
  const hides = (pidFile: string, then: string): readonly [string, ...string[]] => [
    "/bin/sh",
    "-c",
    `setsid env -i /bin/sh -c 'sleep 300 >/dev/null 2>&1 </dev/null & echo $! > ${pidFile}'; ${then}`,
  ];

  test("R-001-39: a process that hid itself in every way ends with a normal exit, and the cgroup is gone", async () => {
    const pidFile = bench.path("pid");
    const end = await bench.run({ argv: hides(pidFile, "exit 3"), enclosure: "cgroup" });
    expect(end).toMatchObject({ reason: "exited", exitCode: 3, process: { enclosure: "cgroup" } });
    expect(existsSync(pidFile)).toBe(true);
    const hidden = processIn(pidFile);
    expect(hidden === undefined || !isAlive(hidden)).toBe(true);
    expect(existsSync(end.process?.cgroup ?? "/")).toBe(false);
  });

  test("a program is born inside its cgroup, however many starts of others are just being prepared", async () => {
    const still = setInterval(prepareToEnter, 1);
    try {
      for (let round = 0; round < 20; round += 1) {
        prepareToEnter();
        // The move is under way, on another thread.
        await delay(round % 4);
        const argv = ["/bin/sh", "-c", "cat /proc/self/cgroup"] as const;
        const { stdoutTail, process: started } = await bench.run({ argv, enclosure: "cgroup" });
        expect(stdoutTail).toContain(basename(started?.cgroup ?? "none"));
      }
    } finally {
      clearInterval(still);
    }
    await untilStill();
    expect(readFileSync("/proc/self/cgroup", "utf8")).not.toContain("passrail-");
  });

  test("a process that could not leave after a start does not end itself with the cgroup", () => {
    const cgroup = createCgroup("inside/1");
    try {
      // Were it ended, this test would never report.
      startInside(cgroup, () => killCgroup(cgroup));
      expect(existsSync(cgroup)).toBe(true);
    } finally {
      removeCgroup(cgroup);
    }
  });

  test("R-X-05: after a crash the record of the cgroup leads to what hid itself, and to nothing else", async () => {
    const pidFile = bench.path("pid");
    const cgroup = createCgroup("crashed/1");
    const [command, ...args] = hides(pidFile, "exit 0");
    const child = startInside(cgroup, () => spawn(command, args, { detached: true, stdio: "ignore", env: {} }));
    await once(child, "exit");
    await until(() => processIn(pidFile) !== undefined, "it hides");
    const hidden = processIn(pidFile) ?? { pid: 0, startTime: "" };
    const bystander = await leave("bystander/1");
    expect(isAlive(hidden)).toBe(true);
    await killLeftovers({ pid: child.pid ?? 0, startTime: "gone", marker: "crashed/1", cgroup });
    expect([isAlive(hidden), isAlive(bystander), existsSync(cgroup)]).toEqual([false, true, false]);
    // A crash may come before it was recorded: then its name leads to it.
    const unnoted = createCgroup("crashed/2");
    const other = createCgroup("crashed/3");
    await killLeftovers({ marker: "crashed/2" });
    expect([existsSync(unnoted), existsSync(other)]).toEqual([false, true]);
    await killLeftovers({ marker: "crashed/3" });
    // Neither this process nor a folder that is none of ours can be named by a record.
    for (const wrong of ["/sys/fs/cgroup", bench.path("."), cgroup])
      await killLeftovers({ pid: 0, startTime: "gone", marker: "crashed/1", cgroup: wrong });
    expect(isAlive(bystander)).toBe(true);
  });

  test("R-X-05: the program finds nothing changed: its own number, its parent, its environment and its exit code", async () => {
    const script =
      'echo "$$ $PPID"; env | grep -v "^PASSRAIL_MARKER=\\|^PWD=\\|^_=\\|^SHLVL=\\|^OLDPWD=" | sort; exit 7';
    const run = (enclosure: "cgroup" | "markers") => bench.run({ argv: ["/bin/sh", "-c", script], enclosure });
    const [held, plain] = [await run("cgroup"), await run("markers")];
    expect(held.stdoutTail.split("\n")[0]).toBe(`${held.process?.pid} ${process.pid}`);
    expect(held.stdoutTail.split("\n").slice(1)).toEqual(plain.stdoutTail.split("\n").slice(1));
    expect([held.exitCode, plain.exitCode]).toEqual([7, 7]);
  });
});

describe("no process outlives its attempt", () => {
  const escapes = ["forks-group", "forks-setsid", "double-fork"] as const;

  test.each(escapes)("R-001-39: what %s left behind is gone after a normal exit", async (name) => {
    const pidFile = bench.path("pid");
    const end = await bench.run({ argv: agent(name, pidFile, "exit") });
    const orphan = processIn(pidFile);
    expect(end).toMatchObject({ reason: "exited", exitCode: 0, detail: "", stdoutTail: "forked\n" });
    expect(existsSync(pidFile)).toBe(true);
    expect(orphan === undefined || !isAlive(orphan)).toBe(true);
    expect(findMarked(end.spec.marker)).toEqual([]);
  });

  const limits = { startupMs: 15_000, idleMs: 200, graceMs: 300 };

  test("R-000-24: a timeout ends the whole tree", async () => {
    const pidFile = bench.path("pid");
    const end = await bench.run({ argv: agent("forks-setsid", pidFile, "stay"), limits: { totalMs: 2_000 } });
    const orphan = processIn(pidFile);
    expect(end.reason).toBe("timeout");
    expect(existsSync(pidFile)).toBe(true);
    expect(orphan === undefined || !isAlive(orphan)).toBe(true);
  });

  test.each(escapes)("R-001-35: what %s started is gone after the idle limit", async (name) => {
    const pidFile = bench.path("pid");
    const end = await bench.run({ argv: agent(name, pidFile, "stay"), limits });
    const orphan = processIn(pidFile);
    expect(end.reason).toBe("idle_timeout");
    expect(end.detail).not.toContain("Still running");
    expect(existsSync(pidFile)).toBe(true);
    expect(orphan === undefined || !isAlive(orphan)).toBe(true);
    expect(findMarked(end.spec.marker)).toEqual([]);
  });

  test.each(escapes)("R-001-39: what %s started is gone after a cancel", async (name) => {
    const pidFile = bench.path("pid");
    const cancel = new AbortController();
    const attempt = bench.run(
      { argv: agent(name, pidFile, "stay"), limits: { graceMs: 300 } },
      { signal: cancel.signal },
    );
    await until(() => processIn(pidFile) !== undefined, "the orphan exists");
    const orphan = processIn(pidFile);
    cancel.abort();
    const end = await attempt;
    expect(end.reason).toBe("canceled");
    expect(orphan !== undefined && isAlive(orphan)).toBe(false);
    expect(findMarked(end.spec.marker)).toEqual([]);
  });

  test("a descendant that left the session and dropped the marker is found by ancestry while its parent lives", async () => {
    const pidFile = bench.path("pid");
    const end = await bench.run({
      argv: agent("forks-setsid", pidFile, "stay", "clean"),
      limits,
    });
    const orphan = processIn(pidFile);
    expect(end.reason).toBe("idle_timeout");
    expect(existsSync(pidFile)).toBe(true);
    expect(orphan === undefined || !isAlive(orphan)).toBe(true);
  });

  test("an orphan that holds stdout does not hold up the end", async () => {
    const end = await bench.run({ argv: agent("forks-setsid", bench.path("pid"), "exit") });
    expect(end.durationMs).toBeLessThan(3_000);
  });

  test("other attempts are left alone", async () => {
    const other = await leave("another-attempt");
    await bench.run({ argv: agent("double-fork", bench.path("pid"), "exit") });
    expect(isAlive(other)).toBe(true);
  });
});

describe("identity", () => {
  test("a process is alive only with its own start time, so a reused pid is not it", async () => {
    const marker = `${bench.spec({}).marker}-identity`;
    const identity = await leave(marker);
    expect(isAlive(identity)).toBe(true);
    expect(isAlive({ ...identity, startTime: `${identity.startTime}0` })).toBe(false);
    expect(isAlive({ ...identity, startTime: "" })).toBe(false);
    await killLeftovers(identity);
    expect(isAlive(identity)).toBe(false);
  });

  test("a pid that does not exist has no identity", () => {
    expect(identify(2 ** 22 + 1)).toBeUndefined();
  });

  test("a zombie is not alive", async () => {
    // The shell starts a child and becomes a program that never collects it; the child waits for that, or the shell might still collect it.
    const child = 'while [ "$(cat /proc/$$/comm)" = sh ]; do sleep 0.01; done';
    const script = `(${child}) & echo $!; exec sleep 1000`;
    const shell = spawn("/bin/sh", ["-c", script], { stdio: ["ignore", "pipe", "ignore"] });
    strays.push(shell);
    const [line] = (await once(shell.stdout as NodeJS.ReadableStream, "data")) as [Buffer];
    const pid = Number(line.toString());
    const startTime = identify(pid) as string;
    await until(() => !isAlive({ pid, startTime }), "the child has ended");
    expect(identify(pid)).toBe(startTime);
  });
});

describe("leftovers of an earlier daemon", () => {
  test("the recorded process is killed with its group and its marked escapees, and they are counted", async () => {
    const pidFile = bench.path("pid");
    const { marker } = bench.spec({});
    const identity = await leave(marker, agent("forks-setsid", pidFile, "stay"));
    const orphan = processIn(pidFile);
    expect(await killLeftovers(identity)).toBe(2);
    expect(isAlive(identity)).toBe(false);
    expect(orphan !== undefined && isAlive(orphan)).toBe(false);
    expect(await killLeftovers(identity)).toBe(0);
  });

  test("a pid that now belongs to somebody else is not killed", async () => {
    const stranger = await leave("stranger");
    expect(await killLeftovers({ ...stranger, startTime: "before", marker: "long-gone" })).toBe(0);
    expect(isAlive(stranger)).toBe(true);
  });

  test("a marker alone is enough, and an empty one matches nothing", async () => {
    const { marker } = bench.spec({});
    const identity = await leave(marker);
    expect(await killLeftovers({ marker: "" })).toBe(0);
    expect(await killLeftovers({ marker: marker.slice(0, -1) })).toBe(0);
    expect(isAlive(identity)).toBe(true);
    expect(await killLeftovers({ marker })).toBe(1);
  });

  test("an unmarked member of the group is killed even when its leader is gone, if a marked one proves the group", async () => {
    const pidFile = bench.path("pid");
    const { marker } = bench.spec({});
    const script = `env -i sleep 1000 & sleep 1000 & echo $! > "${pidFile}"; echo forked; wait`;
    const identity = await leave(marker, ["/bin/sh", "-c", script]);
    process.kill(identity.pid, "SIGKILL");
    await until(() => !isAlive(identity), "the leader is gone");
    expect(await killLeftovers(identity)).toBe(2);
  });

  test("a check beside an agent ends alone, as the agent does; who ends the attempt ends both", async () => {
    const { marker } = bench.spec({});
    const agent = await leave(marker);
    const check = await bench.run({ marker: partMarker(marker, "check"), argv: ["/bin/sh", "-c", "true"] });
    expect(check).toMatchObject({ reason: "exited", exitCode: 0 });
    expect(isAlive(agent)).toBe(true);
    const hanging = await leave(partMarker(marker, "check"));
    expect(await bench.run({ marker, argv: ["/bin/sh", "-c", "true"] })).toMatchObject({ reason: "exited" });
    expect([isAlive(agent), isAlive(hanging)]).toEqual([false, true]);
    const next = await leave(marker);
    expect(await killLeftovers({ marker })).toBe(2);
    expect([isAlive(next), isAlive(hanging)]).toEqual([false, false]);
  });

  test("findMarked finds everything of one store by the beginning of its markers", async () => {
    const store = `store-${process.pid}-${Date.now()}`;
    const first = await leave(`${store}:run-1:1`);
    const second = await leave(`${store}:run-2:1`);
    await leave(`other-${store}`);
    const found = findMarked(`${store}:`).sort((a, b) => a.marker.localeCompare(b.marker));
    expect(found).toEqual([
      { pid: first.pid, marker: first.marker },
      { pid: second.pid, marker: second.marker },
    ]);
  });

  test("R-001-39: after kill -9 of the daemon, what it recorded is enough to end its agents", async () => {
    const pidFile = bench.path("pid");
    const record = bench.path("started.json");
    const spec = bench.spec({ argv: agent("forks-setsid", pidFile, "stay") });
    const program = fileURLToPath(new URL("../../../test/fixtures/agents/run-attempt.ts", import.meta.url));
    const daemon = spawn(process.execPath, ["--experimental-strip-types", program, JSON.stringify(spec), record]);
    strays.push(daemon);
    await until(() => existsSync(record) && processIn(pidFile) !== undefined, "the agent and its escapee run");
    const identity = JSON.parse(readFileSync(record, "utf8")) as ProcessIdentity;
    const orphan = processIn(pidFile);
    daemon.kill("SIGKILL");
    await once(daemon, "exit");
    expect(isAlive(identity)).toBe(true);
    expect(await killLeftovers(identity)).toBe(2);
    expect(isAlive(identity)).toBe(false);
    expect(orphan !== undefined && isAlive(orphan)).toBe(false);
  });
});
