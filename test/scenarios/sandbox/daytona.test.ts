// Workspaces in sandboxes of Daytona, against a server that speaks the part of its API that is used. The vendor's own is not part of these tests.

import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { plainStream } from "../../../src/workspace/sandbox/daytona/plain.ts";
import { removeTempDirs, userGit, valueOf, workspacesSuite } from "../../../src/workspace/workspace.testsuite.ts";
import type { Workspace } from "../../../src/workspace/workspace.ts";
import { type FakeDaytona, KEY, startFakeDaytona } from "../../fixtures/daytona/server.ts";
import { until } from "../../harness/until.ts";
import { type Bench, openConfined } from "./bench.ts";

describe("daytona", { timeout: 60_000 }, () => {
  let fake: FakeDaytona;
  beforeEach(async () => {
    fake = await startFakeDaytona();
  });
  afterEach(async () => {
    await fake.close();
    await removeTempDirs();
  });
  const open = (environment: Readonly<Record<string, string>> = { DAYTONA_API_KEY: KEY }) =>
    openConfined("daytona", { daytona: { url: fake.url, image: "agents:1", start: "4s" } }, environment);

  /** Ends a program by force after it has written half.txt; returns the name of its sandbox. */
  async function cutOff(bench: Bench, workspace: Workspace): Promise<string> {
    const cancel = new AbortController();
    const ended = bench.run(workspace, ["sh", "-c", "echo half > half.txt; sleep 1000"], {
      hooks: { signal: cancel.signal },
      limits: { graceMs: 0 },
    });
    const name = await until("the program works", () =>
      fake.sandboxes().find((each) => existsSync(`/tmp/passrail-${each}/workspace/half.txt`)),
    );
    cancel.abort();
    expect(await ended).toMatchObject({ reason: "canceled" });
    return name;
  }

  workspacesSuite("daytona", () => open());

  test("a program that removes what Passrail fetches its requests from does not make it ask without a pause", async () => {
    const settings = { url: fake.url, image: "agents:1", start: "4s", reach_passrail: "on" as const };
    const bench = await openConfined("daytona", { daytona: settings }, { DAYTONA_API_KEY: KEY });
    const workspace = await bench.open();
    // Nothing listens on it here, because the test's sandbox has the same loopback.
    const service = createServer();
    await new Promise<void>((resolve) => void service.listen(0, "127.0.0.1", resolve));
    const { port } = service.address() as AddressInfo;
    await new Promise<void>((resolve) => void service.close(() => resolve()));
    const end = await bench.sh(workspace, "rm -rf ../relay; sleep 4", { ports: [port] });
    expect(end).toMatchObject({ reason: "exited", exitCode: 0 });
    const asked = fake.calls.filter(({ body }) => body.includes("relay/out") && !body.includes("mkdir"));
    expect(asked.length).toBeGreaterThan(1);
    expect(asked.length).toBeLessThan(20);
  });

  test("R-004-47, R-004-67: a program works in the sandbox, and its commits, its files and its verdict come back", async () => {
    const bench = await open();
    const workspace = await bench.open();
    writeFileSync(join(workspace.dir, "before.txt"), "not committed\n");
    writeFileSync(join(workspace.dir, "doomed.txt"), "not committed either\n");
    expect(fake.sandboxes()).toEqual([]);
    const end = await bench.run(
      workspace,
      [
        "sh",
        "-c",
        `cat; pwd; cat before.txt; echo "$SECRET_KEY"; echo oops >&2; rm doomed.txt packages/app/b.txt
         echo committed > made.txt; git add made.txt; git -c user.name=a -c user.email=a@b commit -qm made
         echo left > left.txt; printf '{"verdict":"pass"}' > "$PASSRAIL_VERDICT_FILE"; exit 7`,
      ],
      { prompt: `work in ${workspace.dir}\n`, env: { SECRET_KEY: "it's $HOME" } },
    );
    expect(end).toMatchObject({ reason: "exited", exitCode: 7, stderrTail: "oops\n" });
    const [name = ""] = fake.sandboxes();
    const inside = `/tmp/passrail-${name}/workspace`;
    expect(end.stdoutTail).toBe(`work in ${inside}\n${inside}\nnot committed\nit's $HOME\n`);
    expect(userGit(workspace.dir, "log", "-1", "--format=%s", "feat/r1")).toBe("made");
    expect(
      userGit(workspace.dir, "status", "--porcelain")
        .split("\n")
        .map((line) => line.trim())
        .sort(),
    ).toEqual(["?? before.txt", "?? left.txt", "D packages/app/b.txt"]);
    expect(readFileSync(join(bench.result, "verdict.json"), "utf8")).toBe('{"verdict":"pass"}');
    // The same sandbox for the next program of this workspace, with what the first one left there.
    expect((await bench.run(workspace, ["sh", "-c", "cat left.txt made.txt"])).stdoutTail).toBe("left\ncommitted\n");
    expect(fake.sandboxes()).toEqual([name]);
    const closed = valueOf(await bench.workspaces.close(workspace, "r1"));
    expect(fake.sandboxes()).toEqual([]);
    expect(userGit(bench.project, "show", `${closed.pinned}:left.txt`)).toBe("left");
    expect(userGit(bench.project, "log", "-1", "--format=%s", "feat/r1")).toBe("made");
    const created = fake.calls.find(({ method, path }) => method === "POST" && path === "/api/sandbox");
    expect(JSON.parse(created?.body ?? "{}")).toMatchObject({
      buildInfo: { dockerfileContent: "FROM agents:1\n" },
      autoStopInterval: 30,
      autoDeleteInterval: 20_160,
    });
  });

  test("a new sandbox gets the last commits of a long history, the next program only what is new, and nothing is lost of it here", async () => {
    const bench = await open();
    const commits = Array.from({ length: 130 }, (_, at) => [
      `commit refs/heads/main\ncommitter A <a@b> ${1_700_000_000 + at} +0000\ndata 5\nlong\n`,
      ...(at === 0 ? ["from refs/heads/main^0"] : []),
      `M 644 inline n.txt\ndata <<.\n${at}\n.\n`,
    ]);
    execFileSync("git", ["-C", bench.project, "fast-import", "--quiet"], { input: commits.flat().join("\n") });
    const workspace = await bench.open();
    const first = await bench.run(workspace, ["sh", "-c", `git rev-list --count HEAD; ${commit("one")}`]);
    expect(first).toMatchObject({ exitCode: 0, stdoutTail: "100\n" });
    const second = await bench.run(workspace, ["sh", "-c", `git rev-list --count HEAD; git fsck && ${commit("two")}`]);
    expect(second).toMatchObject({ exitCode: 0, stdoutTail: "101\n" });
    const packs = fake.calls.filter(({ body }) => body.includes("PACK")).map(({ body }) => body.length);
    // Three hundred objects, and none: a commit that was made there is there.
    expect(packs[0]).toBeGreaterThan(10_000);
    expect(packs[1]).toBeLessThan(500);
    valueOf(await bench.workspaces.close(workspace, "r1"));
    expect(userGit(bench.project, "rev-list", "--count", "feat/r1")).toBe("133");
  });

  test("where the project's remote can be read without a login, a sandbox fetches from it, and gets from here what it lacks; otherwise all comes from here", async () => {
    const bench = await open();
    const commitHere = (name: string, bytes: Uint8Array | string): void => {
      writeFileSync(join(bench.project, name), bytes);
      userGit(bench.project, "add", "-A");
      userGit(bench.project, "commit", "-q", "-m", name);
    };
    commitHere("large.bin", randomBytes(60_000));
    userGit(bench.project, "clone", "-q", "--bare", bench.project, join(bench.dir, "remote.git"));
    commitHere("local.txt", "only here\n");
    const daemon = await startGitDaemon(bench.dir);
    try {
      userGit(bench.project, "remote", "add", "origin", `git://127.0.0.1:${daemon.port}/remote.git`);
      const sentFor = async (run: string): Promise<number> => {
        fake.calls.length = 0;
        const workspace = await bench.open(run);
        const line = `cat local.txt; wc -c < large.bin; ${commit(run)}`;
        const end = await bench.run(workspace, ["sh", "-c", line]);
        expect(end).toMatchObject({ exitCode: 0, stdoutTail: "only here\n60000\n" });
        valueOf(await bench.workspaces.close(workspace, run));
        expect(userGit(bench.project, "log", "-2", "--format=%s", `feat/${run}`)).toBe(`${run}\nlocal.txt`);
        return fake.calls.find(({ body }) => body.includes("PACK"))?.body.length ?? 0;
      };
      expect(await sentFor("r1")).toBeLessThan(5_000);
      daemon.close();
      expect(await sentFor("r2")).toBeGreaterThan(50_000);
    } finally {
      daemon.close();
    }
  });

  test("a sandbox has the machine of the settings; a vendor that is busy is asked again", async () => {
    const machine = { snapshot: "agents-4", target: "eu", cpu: 4, memory: 8, disk: 10, network: "off" } as const;
    const bench = await openConfined("daytona", { daytona: { url: fake.url, ...machine } }, { DAYTONA_API_KEY: KEY });
    const workspace = await bench.open();
    fake.overload(3);
    expect(await bench.run(workspace, ["sh", "-c", "exit 3"])).toMatchObject({ reason: "exited", exitCode: 3 });
    const created = fake.calls.findLast(({ method, path }) => method === "POST" && path === "/api/sandbox");
    const { network: _network, ...named } = machine;
    expect(JSON.parse(created?.body ?? "{}")).toMatchObject({ ...named, networkBlockAll: true });
    valueOf(await bench.workspaces.close(workspace, "r1"));
  });

  test("R-004-47: a sandbox that stopped meanwhile is started again for the work in it", async () => {
    const bench = await open();
    const workspace = await bench.open();
    await cutOff(bench, workspace);
    fake.stopAll();
    const closed = valueOf(await bench.workspaces.close(workspace, "r1"));
    expect(userGit(bench.project, "show", `${closed.pinned}:half.txt`)).toBe("half");
    expect(fake.sandboxes()).toEqual([]);
  });

  test("R-002-34: the handoffs of others go along, at the path that the prompt then names, and do not come back", async () => {
    const bench = await open();
    const workspace = await bench.open();
    const folder = join(bench.home, "channels", "one", "handoffs");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "dev-1.md"), "complete\n");
    const line = `read path; cat "$path"; echo forged > "$path"`;
    const end = await bench.run(workspace, ["sh", "-c", line], { prompt: `${folder}/dev-1.md\n`, reads: [folder] });
    expect(end).toMatchObject({ exitCode: 0, stdoutTail: "complete\n" });
    expect(readFileSync(join(folder, "dev-1.md"), "utf8")).toBe("complete\n");
    valueOf(await bench.workspaces.close(workspace, "r1"));
  });

  test("R-004-55: output comes while the program works, without the codes of terminals, and a program without an end is ended by its limit", async () => {
    const bench = await open();
    const workspace = await bench.open();
    const line = "printf '\\033[31mred\\033[0m\\n'; echo > begun; while :; do sleep 0.1; done";
    const end = await bench.run(workspace, ["sh", "-c", line], {
      limits: { startupMs: 40_000, idleMs: 1_500, totalMs: 60_000, graceMs: 20_000 },
    });
    expect(end).toMatchObject({ reason: "idle_timeout", stdoutTail: "red\n" });
    // Asked to end, it still brought back what there was.
    expect(existsSync(join(workspace.dir, "begun"))).toBe(true);
    valueOf(await bench.workspaces.close(workspace, "r1"));
    expect(fake.sandboxes()).toEqual([]);
  });

  test("R-004-47: a program that is canceled by force leaves its work in the sandbox, and closing brings it back before it deletes", async () => {
    const bench = await open();
    const workspace = await bench.open();
    const name = await cutOff(bench, workspace);
    fake.withhold(true);
    // What cannot be brought back is a reason not to delete.
    expect(await bench.workspaces.close(workspace, "r1")).toMatchObject({ ok: false });
    expect(fake.sandboxes()).toEqual([name]);
    fake.withhold(false);
    const closed = valueOf(await bench.workspaces.close(workspace, "r1"));
    expect(userGit(bench.project, "show", `${closed.pinned}:half.txt`)).toBe("half");
    expect(fake.sandboxes()).toEqual([]);
  });

  test("R-004-49, R-004-55: a sandbox that fails, hangs or refuses the key is a failed attempt, never an endless wait", async () => {
    const bench = await open();
    const workspace = await bench.open();
    fake.behave("hangs");
    // The time of the sandbox is not the program's: no limit of the attempt ends it.
    const hung = await bench.run(workspace, ["true"], { limits: { startupMs: 500, totalMs: 1_000 } });
    expect(hung).toMatchObject({ reason: "sandbox_failed", detail: expect.stringContaining("still creating") });
    fake.behave("fails");
    const failed = await bench.run(workspace, ["true"]);
    expect(failed).toMatchObject({ reason: "sandbox_failed", detail: expect.stringContaining("is error") });
    valueOf(await bench.workspaces.close(workspace, "r1"));
    expect(fake.sandboxes()).toEqual([]);
    const refused = await open({ DAYTONA_API_KEY: "dtn_wrong" });
    const end = await refused.run(await refused.open(), ["true"]);
    expect(end).toMatchObject({ reason: "exited", exitCode: 77, stderrTail: expect.stringContaining("Check the key") });
  });

  test("without a key nothing is opened, in one clear line; the key and values of variables are on no command line", async () => {
    const none = await open({});
    const problem = { code: "sandbox_unavailable", message: "No daytona workspace: DAYTONA_API_KEY is not set." };
    expect(await none.workspaces.check?.()).toMatchObject({ ok: false, error: problem });
    expect(await none.workspaces.open({ runId: "r1", project: none.project, branch: "feat/a" })).toMatchObject({
      ok: false,
      error: problem,
    });
    const bench = await open();
    const workspace = await bench.open();
    const launch = {
      argv: ["agent"],
      program: "agent",
      cwd: workspace.dir,
      env: { TOKEN: "s3cret" },
      folders: [],
    } as const;
    const confined = valueOf((await bench.workspaces.confine?.(workspace, launch)) ?? { ok: false, error: problem });
    const job = readFileSync(confined.argv[2] ?? "", "utf8");
    for (const secret of [KEY, "s3cret"]) expect(`${confined.argv.join(" ")} ${job}`).not.toContain(secret);
  });
});

test("escape sequences are taken out wherever the pieces end", () => {
  const text = "a\u001B[1;31mb\u001B]0;title\u0007c\u001B]8;;http://x\u001B\\d\u001B(Be";
  for (const size of [1, 2, 3, 7, 100]) {
    const plain = plainStream();
    let out = "";
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += size) out += Buffer.from(plain(bytes.subarray(at, at + size))).toString();
    expect(out).toBe("abcde");
  }
});

/** A line of a shell that commits. */
function commit(what: string): string {
  return `echo ${what} > ${what}.txt; git add -A; git -c user.name=a -c user.email=a@b commit -qm ${what}`;
}

/** Everybody may read what lies below the folder. */
async function startGitDaemon(dir: string): Promise<{ readonly port: number; close(): void }> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => void probe.close(resolve));
  const args = ["daemon", `--base-path=${dir}`, "--export-all", "--reuseaddr", "--listen=127.0.0.1", `--port=${port}`];
  const child = spawn("git", args, { stdio: "ignore", detached: true });
  await until("the daemon of git answers", async () => {
    const socket = connect(port, "127.0.0.1");
    const answered = await once(socket, "connect").then(
      () => true,
      () => undefined,
    );
    socket.destroy();
    return answered;
  });
  return {
    port,
    close() {
      if (child.exitCode === null && child.pid !== undefined && !child.killed) process.kill(-child.pid, "SIGKILL");
      child.kill("SIGKILL");
    },
  };
}
