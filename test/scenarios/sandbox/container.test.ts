// Workspaces in containers, with a program in place of docker and podman that records how it is called and really runs the commands.
// No real engine is part of these tests.

import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import {
  removeTempDirs,
  tempDir,
  userGit,
  valueOf,
  workspacesSuite,
} from "../../../src/workspace/workspace.testsuite.ts";
import { until } from "../../harness/until.ts";
import { openConfined } from "./bench.ts";

const ENGINE = join(import.meta.dirname, "../../fixtures/containers/engine.mjs");
type Settings = NonNullable<Parameters<typeof openConfined>[1]>["docker"];

/** As root, podman gives the agent another number inside. */
const AS_A_USER = [
  "--user=1000:1000",
  "--uidmap=1000:0:1",
  "--uidmap=0:1:1000",
  "--gidmap=1000:0:1",
  "--gidmap=0:1:1000",
];
function userOf(engine: "docker" | "podman", uid: number | undefined, gid: number | undefined): readonly string[] {
  if (engine === "docker") return [`--user=${uid}:${gid}`];
  return uid === 0 ? AS_A_USER : [`--user=${uid}:${gid}`, "--userns=keep-id"];
}

async function open(engine: "docker" | "podman", settings: Settings = { image: "agents:1" }) {
  const bin = await tempDir();
  copyFileSync(ENGINE, join(bin, engine));
  chmodSync(join(bin, engine), 0o755);
  const state = join(bin, `${engine}-state`);
  mkdirSync(join(state, "containers"), { recursive: true });
  const environment = { PATH: `${bin}:${process.env["PATH"]}`, API_KEY: "s3cret-of-the-daemon" };
  const bench = await openConfined(engine, settings === undefined ? {} : { docker: settings }, environment);
  const calls = (): string[][] =>
    readFileSync(join(state, "calls.jsonl"), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as string[]);
  const running = (): string[] => readdirSync(join(state, "containers")).filter((name) => name.endsWith(".json"));
  return { ...bench, state, calls, running };
}

describe.each(["docker", "podman"] as const)("%s", { timeout: 60_000 }, (engine) => {
  afterEach(removeTempDirs);

  test("R-004-67: a program runs in a container with the clone, its folders and a home of its own, and no secret on a command line", async () => {
    const bench = await open(engine, { image: "agents:1", network: "off", options: ["--memory=2g"] });
    const workspace = await bench.open();
    const line = `cat; pwd; echo $HOME $API_KEY; echo '{}' > "$PASSRAIL_VERDICT_FILE"; echo new > new.txt; exit 7`;
    const end = await bench.sh(workspace, line, { prompt: "hello\n" });
    expect(end).toMatchObject({ reason: "exited", exitCode: 7, stderrTail: "" });
    expect(end.stdoutTail).toBe(`hello\n${workspace.dir}\n/home/agent s3cret-of-the-daemon\n`);
    expect(existsSync(join(bench.result, "verdict.json"))).toBe(true);
    const run = bench.calls().find(([command]) => command === "run") ?? [];
    const { uid, gid } = { uid: process.getuid?.(), gid: process.getgid?.() };
    const bind = (source: string, target: string): string[] => [
      "--mount",
      `type=bind,source=${source},target=${target}`,
    ];
    expect(run.filter((arg) => !/^--(?:name|label|env)=/u.test(arg))).toEqual([
      "run",
      "--rm",
      "--interactive",
      "--init",
      "--pull=never",
      "--network=none",
      ...userOf(engine, uid, gid),
      "--cap-drop=ALL",
      "--security-opt=no-new-privileges",
      "--pids-limit=4096",
      ...bind(join(bench.home, "clones", "r1"), workspace.dir),
      ...bind(bench.result, bench.result),
      ...bind(join(bench.home, "confined", "r1", "home"), "/home/agent"),
      `--workdir=${workspace.dir}`,
      "--memory=2g",
      "agents:1",
      "/bin/sh",
      "-c",
      line,
    ]);
    expect(run.filter((arg) => arg.startsWith("--env="))).toEqual(
      expect.arrayContaining(["--env=API_KEY", "--env=PASSRAIL_VERDICT_FILE", "--env=HOME=/home/agent"]),
    );
    expect(JSON.stringify(run)).not.toContain("s3cret");
    expect(run).not.toContain("--env=PATH");
    const closed = valueOf(await bench.workspaces.close(workspace, "r1"));
    expect(userGit(bench.project, "show", `${closed.pinned}:new.txt`)).toBe("new");
    expect(bench.running()).toEqual([]);
  });

  test("an engine that does not answer, an image that is not there and settings without one are each told, and nothing is opened", async () => {
    const unavailable = (hint: string) => ({
      ok: false,
      error: { code: "sandbox_unavailable", hint: expect.stringContaining(hint) },
    });
    const bench = await open(engine);
    writeFileSync(join(bench.state, "down"), "");
    expect(await bench.workspaces.check?.()).toMatchObject(unavailable(`${engine} version`));
    expect(await bench.workspaces.open({ runId: "r1", project: bench.project, branch: "feat/a" })).toMatchObject(
      unavailable(`${engine} version`),
    );
    rmSync(join(bench.state, "down"));
    expect(await bench.workspaces.check?.()).toMatchObject({ ok: true });
    const missing = await open(engine, { image: "nobody/has:this" });
    expect(await missing.workspaces.check?.()).toMatchObject(unavailable(`${engine} pull nobody/has:this`));
    expect(await (await open(engine, { image: "--privileged" })).workspaces.check?.()).toMatchObject({ ok: false });
    const unset = await openConfined(engine);
    expect(await unset.workspaces.check?.()).toMatchObject(unavailable("passrail sandbox build"));
  });
});

describe("containers", { timeout: 60_000 }, () => {
  test.each([
    ['["name=seccomp,profile=builtin","name=rootless"]', ["--user=0:0", "--env=IS_SANDBOX=1"]],
    ['["name=userns"]', [`--user=${process.getuid?.()}:${process.getgid?.()}`, "--userns=host"]],
  ])("users have the numbers that an engine with %s needs", async (security, options) => {
    const bench = await open("docker");
    writeFileSync(join(bench.state, "security"), security);
    const workspace = await bench.open();
    expect(await bench.sh(workspace, "exit 0")).toMatchObject({ exitCode: 0 });
    const run = bench.calls().find(([command]) => command === "run") ?? [];
    expect(run).toEqual(expect.arrayContaining(options));
  });

  workspacesSuite("docker", () => open("docker"));
  afterEach(removeTempDirs);

  test("a container ends with its attempt, also when the program inside does not listen", async () => {
    const bench = await open("docker");
    const workspace = await bench.open();
    for (const [trap, ready] of [
      ["trap 'echo saved > saved.txt; exit 0' TERM", "polite"],
      ["trap '' TERM", "deaf"],
    ] as const) {
      const cancel = new AbortController();
      const line = `${trap}; echo > ${ready}; while :; do sleep 0.05; done`;
      // Long enough for a busy machine: the container is removed by a program that has to start first.
      const ended = bench.sh(workspace, line, { hooks: { signal: cancel.signal }, limits: { graceMs: 60_000 } });
      await until("the program is ready", () => existsSync(join(workspace.dir, ready)) || undefined);
      expect(bench.running()).toHaveLength(1);
      cancel.abort();
      expect(await ended).toMatchObject({ reason: "canceled" });
      expect(bench.running()).toEqual([]);
    }
    expect(readFileSync(join(workspace.dir, "saved.txt"), "utf8")).toBe("saved\n");
  });

  test("a container ends when the program beside it is killed, and one that is canceled then may still save its work", async () => {
    const bench = await open("docker");
    const workspace = await bench.open();
    for (const how of ["left", "canceled"] as const) {
      const cancel = new AbortController();
      const line = `trap 'echo saved > saved-${how}.txt; exit 0' TERM; echo > ${how}; while :; do sleep 0.05; done`;
      const ended = bench.sh(workspace, line, { hooks: { signal: cancel.signal }, limits: { graceMs: 60_000 } });
      await until("the program is ready", () => existsSync(join(workspace.dir, how)) || undefined);
      const [name = ""] = bench.running().map((file) => file.replace(/\.json$/u, ""));
      const beside = await until("the program beside it is there", () =>
        readdirSync("/proc").find((pid) => /^\d+$/u.test(pid) && isBeside(pid, name)),
      );
      process.kill(Number(beside), "SIGKILL");
      if (how === "canceled") cancel.abort();
      expect(await ended).toMatchObject({ reason: how === "canceled" ? "canceled" : "exited", exitCode: 137 });
      expect(bench.running()).toEqual([]);
      expect(existsSync(join(workspace.dir, `saved-${how}.txt`))).toBe(how === "canceled");
    }
  });

  test.each(["unlock", "close", "confine"] as const)("R12: what a crash left running is ended by %s", async (how) => {
    const bench = await open("docker");
    const workspace = await bench.open();
    const cancel = new AbortController();
    // No time at all: the client is ended by force, as after a crash, and its container lives on.
    const ended = bench.sh(workspace, "trap '' TERM; echo > ready; while :; do date +%N > alive; sleep 0.05; done", {
      hooks: { signal: cancel.signal },
      limits: { graceMs: 0 },
    });
    await until("the program is ready", () => existsSync(join(workspace.dir, "ready")) || undefined);
    cancel.abort();
    await ended;
    expect(bench.running()).toHaveLength(1);
    if (how === "unlock") await bench.workspaces.unlock(workspace);
    else if (how === "close") valueOf(await bench.workspaces.close(workspace, "r1"));
    else expect(await bench.sh(workspace, "exit 0")).toMatchObject({ exitCode: 0 });
    expect(bench.running()).toEqual([]);
  });

  test("containers of other workspaces are left alone", async () => {
    const bench = await open("docker");
    const workspace = await bench.open();
    const other = await bench.open("r2");
    const cancel = new AbortController();
    const ended = bench.sh(other, "echo > ready; while :; do sleep 0.05; done", { hooks: { signal: cancel.signal } });
    await until("the program is ready", () => existsSync(join(other.dir, "ready")) || undefined);
    valueOf(await bench.workspaces.close(workspace, "r1"));
    expect(bench.running()).toHaveLength(1);
    cancel.abort();
    await ended;
  });
});

function isBeside(pid: string, container: string): boolean {
  try {
    const [program, ...words] = readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
    return program === process.execPath && words.includes(container);
  } catch {
    return false;
  }
}
