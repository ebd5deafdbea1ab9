// Programs that try to outlive their attempt, at each rung of the ladder that this machine has: as the user of the tests, and as a user
// without root where that is root.

import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ROOT } from "../../../test/harness/build-once.ts";
import { cgroupFolder, cgroupProblem, createCgroup, removeCgroup, sweepCgroups } from "./cgroup.ts";
import { enclosureHere } from "./enclose.ts";

const RUN = join(ROOT, "test/fixtures/enclosure/run-enclosed.ts");
/** A user of no name, without rights of any kind. */
const STRANGER = 54_321;

type Ran = { readonly enclosure: string | null; readonly exitCode: number; readonly stdoutTail: string };

function run(choice: string, line: string, uid?: number, env: NodeJS.ProcessEnv = process.env): Ran {
  const who = uid === undefined ? [] : [String(uid)];
  const text = execFileSync(process.execPath, [RUN, choice, line, ...who], { encoding: "utf8", cwd: "/", env });
  const { folder, ...ran } = JSON.parse(text) as Ran & { readonly folder?: string };
  if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  return ran;
}

/** Each hides a sleeper in its own way, and the program waits until all of them sleep. */
function hides(seconds: string): string {
  const quiet = ">/dev/null 2>&1 </dev/null &";
  return [
    `setsid env -i sh -c 'sleep ${seconds}1 ${quiet}'`,
    `sh -c '(env -i sh -c "sleep ${seconds}2 ${quiet}" &)'`,
    `env -i setsid sh -c 'trap "" TERM HUP INT; sleep ${seconds}3 ${quiet}'`,
    `nohup setsid -f env -i sleep ${seconds}4 ${quiet}`,
    `until [ "$(cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -o 'sleep ${seconds}[1-4]' | sort -u | wc -l)" = 4 ]; do sleep 0.05; done`,
    "echo hidden; exit 3",
  ].join("\n");
}

function sleepers(seconds: string): readonly number[] {
  return readdirSync("/proc").flatMap((name) => {
    try {
      return readFileSync(`/proc/${name}/cmdline`, "utf8").startsWith(`sleep\0${seconds}`) ? [Number(name)] : [];
    } catch {
      return [];
    }
  });
}

const isRoot = process.getuid?.() === 0;

describe.runIf(process.platform === "linux")("programs that hide processes", () => {
  const users = [
    ["the user of the tests", undefined] as const,
    ...(isRoot ? [["a user without root", STRANGER] as const] : []),
  ];
  for (const [who, uid] of users) {
    test.each(["auto", "namespace", "cgroup"])(
      `P7, R-001-39: nothing of them outlives its attempt (%s, ${who})`,
      (choice) => {
        const seconds = `4${Math.random().toString().slice(2, 10)}`;
        const ran = run(choice, hides(seconds), uid);
        const left = sleepers(seconds);
        for (const pid of left) process.kill(pid, "SIGKILL");
        // A choice by name that this machine does not have starts nothing; markers promise less.
        if (ran.enclosure === null || ran.enclosure === "markers") return;
        expect(ran).toMatchObject({ exitCode: 3, stdoutTail: "hidden\n" });
        expect(left).toEqual([]);
      },
    );
  }

  test.runIf(isRoot && enclosureHere("namespace").ok)(
    "P7: a user without root may have a PID namespace where the system allows one, keeps its name and its environment, and never gets one unasked",
    () => {
      expect(run("auto", "true", STRANGER).enclosure).not.toBe("namespace");
      const ran = run("namespace", "id -u; echo $PATH; echo $$", STRANGER);
      if (ran.enclosure !== "namespace") return;
      const [uid, path, pid] = ran.stdoutTail.split("\n");
      expect([uid, path]).toEqual([String(STRANGER), "/usr/bin:/bin"]);
      expect(Number(pid)).toBeLessThan(10);
    },
  );
});

const standsIn = process.platform === "linux" && isRoot && cgroupProblem() === null;

test.runIf(standsIn)(
  "P7, R-001-39: in a scope of systemd nothing outlives its attempt, and the program finds its own environment and its own words",
  () => {
    const folder = join(ROOT, "test/fixtures/enclosure");
    const env = { ...process.env, PATH: `${folder}:${process.env["PATH"]}` };
    const seconds = `4${Math.random().toString().slice(2, 10)}`;
    try {
      const ran = run("scope", `echo "$XDG_RUNTIME_DIR" '\${HOME}'\n${hides(seconds)}`, undefined, env);
      const left = sleepers(seconds);
      for (const pid of left) process.kill(pid, "SIGKILL");
      expect(ran).toEqual(expect.objectContaining({ enclosure: "scope", exitCode: 3 }));
      expect(ran.stdoutTail).toBe(" ${HOME}\nhidden\n");
      expect(left).toEqual([]);
      // A missing program is told as what it is.
      const none = run("scope", "true", undefined, { ...process.env, PATH: "/nowhere" });
      expect(none).toMatchObject({ enclosure: null, problem: expect.stringContaining("there is no systemd-run") });
    } finally {
      const slice = cgroupFolder("/passrail-stand-in.slice");
      for (const name of existsSync(slice) ? readdirSync(slice) : [])
        if (name.endsWith(".scope")) rmdirSync(join(slice, name));
      if (existsSync(slice)) rmdirSync(slice);
    }
  },
);

test.runIf(standsIn && existsSync("/lib/systemd/systemd"))(
  "P7, R-001-39: the real systemd holds everything that a user's program hides; markers alone do not",
  { timeout: 60_000 },
  ({ skip }) => {
    const group = createCgroup("systemd/1");
    const folder = mkdtempSync(join(tmpdir(), "passrail-manager-"));
    chmodSync(folder, 0o755);
    const left = "cat /proc/[0-9]*/comm | grep -c -x sleep";
    // Counted in the namespace of the manager, while it lives.
    const both = `"$1" "$2" scope "$3" ${STRANGER}; echo; ${left}; "$1" "$2" markers "$3" ${STRANGER}; echo; ${left}; true`;
    const line = hides(`4${Math.random().toString().slice(2, 10)}`);
    try {
      const args = [group, join(folder, "run"), String(STRANGER), "sh", "-c", both, "sh", process.execPath, RUN, line];
      const { status, stdout, stderr } = spawnSync(join(ROOT, "test/fixtures/enclosure/with-systemd.sh"), args, {
        encoding: "utf8",
        cwd: "/",
      });
      if (status === 77) return skip(`no manager of systemd can be started here: ${stderr.slice(-300)}`);
      const [scope = "", inScope, markers = "", byMarkers] = stdout.split("\n");
      const [held, marked] = [scope, markers].map((text) => JSON.parse(text) as Ran & { readonly folder: string });
      for (const ran of [held, marked]) if (ran !== undefined) rmSync(ran.folder, { recursive: true, force: true });
      expect(held).toMatchObject({ enclosure: "scope", exitCode: 3, stdoutTail: "hidden\n" });
      expect(marked).toMatchObject({ enclosure: "markers", exitCode: 3 });
      expect(inScope).toBe("0");
      expect(Number(byMarkers)).toBeGreaterThan(0);
    } finally {
      rmSync(folder, { recursive: true, force: true });
      removeCgroup(group);
    }
  },
);

test.runIf(process.platform === "linux" && cgroupProblem() === null)(
  "P7: empty cgroups of programs that were killed with everything that knew of them are removed, and others stay",
  () => {
    const empty = createCgroup("killed/1");
    sweepCgroups();
    expect(existsSync(empty)).toBe(false);
    removeCgroup(empty);
  },
);
