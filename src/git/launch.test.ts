// The same answers whether a program is started here or by the helper, and what happens when either of them dies.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { copyFileSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { until } from "../../test/harness/until.ts";
import { launch } from "./launch.ts";
import { type LaunchOrder, launchHere } from "./launch-here.ts";

const sh = (script: string, changes: Partial<LaunchOrder> = {}): LaunchOrder => ({
  file: "sh",
  args: ["-c", script],
  env: { PATH: process.env["PATH"] ?? "" },
  input: Buffer.from(""),
  timeoutMs: 20_000,
  maxBytes: 1_000_000,
  ...changes,
});

/** Past the calls that every process makes itself. */
async function byHelper(order: LaunchOrder) {
  await until("the helper is ready", async () => {
    const { stdout } = await launch(sh("echo $PPID"));
    return Number(Buffer.from(stdout)) === process.pid ? undefined : true;
  });
  return launch(order);
}

describe.each([
  ["here", launchHere],
  ["by the helper", byHelper],
] as const)("a program that is started %s", (_, start) => {
  test("gets its arguments, input and environment, and nothing of ours", async () => {
    const { stdout, failure } = await start(
      sh('cat; echo "$A|$HOME|$PWD"', {
        input: Buffer.from("in\0put "),
        env: { PATH: process.env["PATH"] ?? "", A: "b" },
      }),
    );
    expect(failure).toBeNull();
    expect(Buffer.from(stdout).toString()).toBe("in\0put b||/\n");
  });

  test("tells its exit code and its errors", async () => {
    const { stdout, stderr, failure } = await start(sh("echo out; echo err >&2; exit 7"));
    expect(failure).toMatchObject({ code: 7, isTimeout: false });
    expect([stdout, stderr].map((bytes) => Buffer.from(bytes).toString())).toEqual(["out\n", "err\n"]);
  });

  test("ends at its limit of time", async () => {
    expect((await start(sh("sleep 60", { timeoutMs: 100 }))).failure).toMatchObject({ isTimeout: true });
  });

  test("ends at its limit of output, and what came before is kept", async () => {
    const { stdout, failure } = await start(sh("yes | head -c 300000", { maxBytes: 1000 }));
    expect(failure?.code).toBe("ERR_CHILD_PROCESS_STDIO_MAXBUFFER");
    expect(stdout.length).toBe(1000);
  });

  test("may be missing", async () => {
    expect((await start(sh("", { file: "no-such-program" }))).failure?.code).toBe("ENOENT");
  });
});

test("S09: the helper has no variable of ours", async () => {
  await byHelper(sh("true"));
  const [pid] = helpers();
  // Node adds the number of the channel itself.
  const names = readFileSync(`/proc/${pid}/environ`, "latin1").split("\0").filter(Boolean);
  expect(names.filter((entry) => !entry.startsWith("NODE_CHANNEL_"))).toEqual([]);
});

test("a helper that is killed takes its programs' answers with it, and the next call has a new one", async () => {
  await byHelper(sh("true"));
  const [pid = 0] = helpers();
  const pending = launch(sh("sleep 5"));
  process.kill(pid, "SIGKILL");
  expect((await pending).failure).toMatchObject({ code: null, isTimeout: false });
  expect((await byHelper(sh("exit 3"))).failure?.code).toBe(3);
  expect(helpers()).not.toContain(pid);
});

test("P7: the helper of a process that is killed ends when its programs have ended", async () => {
  const script = `
    const { launch } = await import(${JSON.stringify(new URL("./launch.ts", import.meta.url).href)});
    const order = (script) => ({ file: "sh", args: ["-c", script], env: { PATH: process.env.PATH }, input: Buffer.from(""), timeoutMs: 20000, maxBytes: 1000 });
    for (let parent = process.pid; parent === process.pid; )
      parent = Number(Buffer.from((await launch(order("echo $PPID"))).stdout));
    console.log("ready");
    await launch(order("exec sleep 60"));
  `;
  const parent = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(createInterface({ input: parent.stdout }), "line");
  const [pid] = await until("the program runs", () => {
    const [helper = 0] = childrenOf(parent.pid ?? 0);
    return childrenOf(helper).length > 0 ? ([helper] as const) : undefined;
  });
  const [program = 0] = childrenOf(pid);
  parent.kill("SIGKILL");
  await once(parent, "exit");
  expect(isAlive(pid)).toBe(true);
  process.kill(program, "SIGKILL");
  await until("the helper ends", () => (isAlive(pid) ? undefined : true));
});

test("a process whose installation was removed goes on without a helper", () => {
  const dir = mkdtempSync(join(tmpdir(), "passrail-launch-"));
  try {
    for (const name of ["launch.ts", "launch-here.ts"]) copyFileSync(join(import.meta.dirname, name), join(dir, name));
    const script = `
      const { launch } = await import(${JSON.stringify(pathToFileURL(join(dir, "launch.ts")).href)});
      const order = { file: "sh", args: ["-c", "exit 3"], env: { PATH: process.env.PATH }, input: Buffer.from(""), timeoutMs: 20000, maxBytes: 1000 };
      for (let call = 0; call < 60; call++) if ((await launch(order)).failure?.code !== 3) process.exit(1);
    `;
    execFileSync(process.execPath, ["--input-type=module", "-e", script], { timeout: 60_000 });
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test("a process with a helper ends when it has nothing left to do", () => {
  const script = `
    const { launch } = await import(${JSON.stringify(new URL("./launch.ts", import.meta.url).href)});
    const order = { file: "true", args: [], env: { PATH: process.env.PATH }, input: Buffer.from(""), timeoutMs: 20000, maxBytes: 1000 };
    for (let call = 0; call < 15; call++) await launch(order);
  `;
  execFileSync(process.execPath, ["--input-type=module", "-e", script], { timeout: 60_000 });
});

function helpers(): readonly number[] {
  return childrenOf(process.pid).filter((pid) => commandLine(pid).includes("launch-helper"));
}

function childrenOf(parent: number): readonly number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/u.test(name));
  return pids.map(Number).filter((pid) => new RegExp(`\\) [A-Y] ${parent} `, "u").test(stat(pid)));
}

/** A zombie does nothing any more. */
function isAlive(pid: number): boolean {
  return /\) [A-Y] /u.test(stat(pid));
}

function stat(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, "latin1");
  } catch {
    return "";
  }
}

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1");
  } catch {
    return "";
  }
}
