// The daemon's life: one per folder, an orderly end, a hard end, and what is found on the disk and the network meanwhile.

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openBench } from "../cli/bench.ts";
import { until } from "../../harness/until.ts";
import { type Running, startDaemon } from "./running.ts";

const HAPPY = {
  spec: [{ verdict: "APPROVED" }],
  design: [{ verdict: "APPROVED" }],
  build: [{ verdict: "COMPLETE" }],
  qa: [{ verdict: "SHIP" }],
};

describe("one daemon that stays", () => {
  let daemon: Running;
  beforeAll(async () => {
    daemon = await startDaemon();
  });
  afterAll(() => daemon.close());

  test("status names it, and a second one is refused with code 3 and its owner's name", async () => {
    const status = await daemon.passrail(["status", "--json"]);
    expect(status.code).toBe(0);
    expect(JSON.parse(status.out)).toMatchObject({
      running: true,
      url: daemon.url,
      pid: daemon.process.child.pid,
      home: daemon.home,
      project: daemon.project,
    });
    const alias = join(daemon.dir, "alias");
    symlinkSync(daemon.home, alias);
    for (const home of [daemon.home, `${daemon.home}/`, alias]) {
      const second = await daemon.passrail(["--home", home, "up", "--port", "0"]);
      expect(second.code).toBe(3);
      expect(second.err).toContain(`process ${daemon.process.child.pid} `);
      expect(second.err).toContain(daemon.home);
    }
    const detached = await daemon.passrail(["up", "--detach"]);
    expect(detached).toMatchObject({ code: 0, out: expect.stringContaining(`is up already: ${daemon.url}`) });
  });

  test("S01: it listens on loopback only, and wants a token for every path", async () => {
    const port = Number(new URL(daemon.url).port).toString(16).toUpperCase().padStart(4, "0");
    const listeners = ["/proc/net/tcp", "/proc/net/tcp6"]
      .flatMap((file) => readFileSync(file, "utf8").split("\n"))
      .map((line) => line.trim().split(/\s+/))
      .filter(([, local, , state]) => state === "0A" && local?.endsWith(`:${port}`) === true)
      .map(([, local]) => local);
    expect(listeners).toEqual([`0100007F:${port}`]);
    for (const path of ["/docs", "/api/health", "/api/events", "/api/openapi.json", "/nothing", "/runs/../api/runs"])
      expect([path, (await daemon.call("GET", path, { token: null })).status]).toEqual([path, 401]);
    // The dashboard's own files are for everybody: they hold nothing but a door.
    const page = await daemon.call("GET", "/", { token: null });
    expect(page.status).toBe(200);
    expect(page.headers.get("content-security-policy")).toContain("script-src 'self'");
    expect(page.headers.get("cache-control")).toBe("no-cache");
    expect((await daemon.call("GET", "/api/health")).body).toMatchObject({ status: "ok" });
  });

  test("S01: an address that others reach needs to be asked for in so many words", async () => {
    const other = openBench();
    const refused = await other.passrail(["up", "--host", "0.0.0.0", "--port", "0"]);
    expect(refused.code).toBe(2);
    expect(refused.err).toContain("--dangerously-bind");
    for (const args of [
      ["--host", "example.com"],
      ["--port", "99999"],
      ["--port", "x"],
      ["--allow-host", "a b"],
    ])
      expect((await other.passrail(["up", ...args])).code).toBe(2);
    other.remove();
  });

  test("a port that is taken is said so, and the folder is free again", async () => {
    const other = openBench();
    const taken = createServer().listen(0, "127.0.0.1");
    await until("it listens", () => (taken.listening ? true : undefined));
    const { port } = taken.address() as { port: number };
    const refused = await other.passrail(["up", "--port", String(port)]);
    expect(refused.code).toBe(1);
    expect(refused.err).toContain("code port_taken");
    expect((await other.passrail(["status", "--json"])).code).toBe(5);
    taken.close();
    other.remove();
  });

  test("S25: everything in its folder belongs to its user alone", () => {
    const open: string[] = [];
    const look = (dir: string): void => {
      for (const entry of readdirSync(dir, { withFileTypes: true })) {
        const path = join(dir, entry.name);
        if ((statSync(path).mode & 0o077) !== 0) open.push(path);
        if (entry.isDirectory()) look(path);
      }
    };
    expect(statSync(daemon.home).mode & 0o777).toBe(0o700);
    look(daemon.home);
    expect(open).toEqual([]);
  });

  test("S04: the token is in no log, no list of processes and no answer to a stranger", async () => {
    await daemon.call("GET", `/?token=${daemon.token}`, { token: null });
    const page = await daemon.call("GET", "/", { token: null });
    const log = readFileSync(join(daemon.home, "logs", "daemon.log"), "utf8");
    const processes = execFileSync("ps", ["-ef"], { encoding: "utf8" });
    for (const text of [page.text, log, processes, daemon.process.err()]) expect(text).not.toContain(daemon.token);
  });

  test("a key that a command makes works at once, and is refused at once when it is revoked", async () => {
    const made = JSON.parse((await daemon.passrail(["key", "create", "wall", "--json"])).out) as Record<string, string>;
    const token = made["token"] ?? "";
    expect((await daemon.call("GET", "/api/runs", { token })).status).toBe(200);
    expect((await daemon.call("POST", "/api/login-codes", { token, body: {} })).status).toBe(403);
    expect((await daemon.passrail(["key", "list"])).out).toContain("wall");
    expect((await daemon.passrail(["key", "revoke", made["id"] ?? ""])).code).toBe(0);
    expect((await daemon.call("GET", "/api/runs", { token })).status).toBe(401);
    expect((await daemon.passrail(["key", "revoke", "k00000000"])).err).toContain("code key_not_found");
    expect((await daemon.passrail(["key", "create", "a b"])).code).toBe(2);
  });

  test("commands beside it do the same as without it: start, follow, answer, look", async () => {
    const player = daemon.player(HAPPY);
    const ran = await daemon.passrail(["run", "feature", "One", "--agent", `*=${player}`]);
    expect(ran.code).toBe(3);
    const inbox = await daemon.call("GET", "/api/inbox");
    const [item] = (inbox.body as { items?: { id: string }[] })["items"] ?? [];
    expect(item).toBeDefined();
    const answered = await daemon.passrail(["gate", "approve"]);
    expect(answered.code).toBe(3);
    const runs = await daemon.call("GET", "/api/runs");
    expect(runs.body).toMatchObject({ runs: [{ number: 1, status: "waiting", word: "review" }] });
    const left = await daemon.passrail(["run", "feature", "Two", "--agent", `*=${player}`, "--detach", "--json"]);
    expect(left.code).toBe(0);
    await until("the daemon carries it on", async () =>
      (await daemon.call("GET", "/api/runs/2")).body["status"] === "waiting" ? true : undefined,
    );
  });
});

describe("how it ends", () => {
  let daemon: Running | undefined;
  afterEach(() => daemon?.close());

  /** A run whose first agent works until the file `go` is there. */
  const startSlow = async (running: Running): Promise<void> => {
    const trace = join(running.dir, "trace");
    const slow = { ...HAPPY, spec: [{ verdict: "APPROVED", hold: join(running.dir, "go"), trace }] };
    const args = ["run", "feature", "Slow", "--agent", `*=${running.player(slow)}`, "--detach"];
    expect((await running.passrail(args)).code).toBe(0);
    await until("it waits for approval", async () =>
      (await running.call("GET", "/api/runs/1")).body["status"] === "waiting" ? true : undefined,
    );
    const version = (await running.call("GET", "/api/inbox/1.1")).body["version"];
    const answer = await running.call("POST", "/api/inbox/1.1/answer", {
      body: { answer: "approve" },
      headers: { "if-match": `"${String(version)}"` },
    });
    expect(answer.status).toBe(200);
    await until("its agent works", () => (existsSync(trace) ? true : undefined));
  };

  test("down ends it and what works; the next one does that again", async () => {
    daemon = await startDaemon();
    await startSlow(daemon);
    const down = await daemon.passrail(["down"]);
    expect(down).toMatchObject({ code: 0, out: expect.stringContaining("Stopped") });
    expect((await daemon.process.ended).code).toBe(0);
    expect((await daemon.passrail(["status"])).code).toBe(5);
    expect(readdirSync(daemon.home)).not.toContain("daemon.json");
    expect((await daemon.passrail(["down"])).code).toBe(0);
    await daemon.up();
    const history = await daemon.call("GET", "/api/runs/1/events");
    expect(history.text).toContain("stage.interrupted");
  });

  test("after kill -9 the folder is free, the old note misleads nobody, and the work goes on", async () => {
    daemon = await startDaemon();
    await startSlow(daemon);
    daemon.process.child.kill("SIGKILL");
    await daemon.process.ended;
    expect(readdirSync(daemon.home)).toContain("daemon.json");
    expect(JSON.parse((await daemon.passrail(["status", "--json"])).out)).toMatchObject({ running: false });
    expect((await daemon.passrail(["down"])).out).toContain("No daemon is running");
    await daemon.up();
    expect((await daemon.call("GET", "/api/runs/1/events")).text).toContain("stage.interrupted");
  });

  test("a second signal does not wait, and leaves no agent behind", async () => {
    daemon = await startDaemon();
    await startSlow(daemon);
    daemon.process.child.kill("SIGTERM");
    daemon.process.child.kill("SIGTERM");
    const { code } = await daemon.process.ended;
    expect([0, 143]).toContain(code);
    const left = execFileSync("ps", ["-eo", "args"], { encoding: "utf8" });
    expect(left).not.toContain(join(daemon.dir, "script-1.json"));
  });

  test("down --drain lets what works come to its end and starts nothing more", async () => {
    daemon = await startDaemon();
    await startSlow(daemon);
    const down = daemon.passrail(["down", "--drain"]);
    await until("it is asked", () => (daemon?.process.err().includes("may finish first") === true ? true : undefined));
    writeFileSync(join(daemon.dir, "go"), "");
    expect((await down).code).toBe(0);
    await daemon.up();
    const events = await daemon.call("GET", "/api/runs/1/events");
    expect(events.text).not.toContain("stage.interrupted");
    expect(events.text).toContain("stage.finished");
    // The next stage was begun by the daemon that came after, not before the end.
    const firsts = [...events.text.matchAll(/"type":"stage.started"[^}]*"stage":"spec"/g)];
    expect(firsts).toHaveLength(1);
  });

  test("R14: of twenty that start at once exactly one works", { timeout: 240_000 }, async () => {
    const bench = openBench();
    onTestFinished(() => bench.remove());
    const starts = Array.from({ length: 20 }, () => bench.start(["up", "--port", "0", "--json"]));
    const losers = await until(
      "nineteen are refused",
      () => {
        const ended = starts.filter(({ child }) => child.exitCode !== null);
        return ended.length >= 19 ? ended : undefined;
      },
      // Twenty programs start on the cores that all tests share.
      180_000,
    );
    expect(losers).toHaveLength(19);
    for (const { ended } of losers) {
      const { code, err } = await ended;
      expect(code).toBe(3);
      expect(err).toContain("already_performed");
    }
    const winner = starts.find(({ child }) => child.exitCode === null);
    const status = await until("the one says where it is", async () => {
      const { code, out } = await bench.passrail(["status", "--json"]);
      return code === 0 ? out : undefined;
    });
    expect(JSON.parse(status)).toMatchObject({ running: true, pid: winner?.child.pid });
    winner?.child.kill("SIGTERM");
    expect((await winner?.ended)?.code).toBe(0);
  });
});
