// Source 001's daemon: runs of registered projects over the API, a line per project on disk, and everything in the daemon's log. The real
// daemon in its own process, killed in the middle.

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../../harness/until.ts";
import { type Running, startDaemon } from "../daemon/running.ts";

let daemon: Running;
let shop: string;
beforeEach(async () => {
  daemon = await startDaemon();
  shop = join(daemon.dir, "shop");
  mkdirSync(shop);
  execFileSync("git", ["init", "-q", "-b", "main", shop]);
  const who = ["-c", "user.name=t", "-c", "user.email=t@localhost"];
  execFileSync("git", ["-C", shop, ...who, "commit", "-q", "--allow-empty", "-m", "first"]);
});
afterEach(() => daemon.close());

type Queue = {
  projects: {
    name: string | null;
    entries: { number: number; state: string; position: number | null; why: string | null }[];
  }[];
};
type Traced = { mark: string; run: string; stage: string };

const logOf = () => readFileSync(join(daemon.home, "logs/daemon.log"), "utf8");

test("R-001-33, R-001-34, R-001-37: pipelines of a project go first in, first out, through a kill -9, and the log tells all of it", async () => {
  expect(await daemon.call("POST", "/api/projects", { body: { folder: shop } })).toMatchObject({ status: 201 });
  expect((await daemon.call("POST", "/api/projects", { body: { folder: "shop" } })).status).toBe(422);
  expect((await daemon.call("GET", "/api/projects")).body).toMatchObject({
    projects: [{ name: "shop", folder: shop, isOwn: false, trust: "none", lastRun: null }],
  });

  const [trace, go] = [join(daemon.dir, "trace.jsonl"), join(daemon.dir, "go")];
  const script = {
    route: [{ via: "text", text: '[{"agent":"builder"},{"agent":"reviewer"}]' }],
    builder: [{ via: "text", text: "built", write: { "a.txt": "1" }, commit: true, hold: go, trace }],
    reviewer: [{ via: "review-file", text: "Verdict: APPROVE\n" }],
  };
  const agents = { "*": daemon.player(script) };
  const start = (title: string, project = "shop") =>
    daemon.call("POST", "/api/runs", { body: { flow: "pipeline", project, title, agents } });
  for (const title of ["one", "two", "three"]) expect((await start(title)).status).toBe(201);
  expect(await start("none", "shoop")).toMatchObject({ status: 422, body: { hint: expect.stringContaining("shop") } });

  const queue = async () => ((await daemon.call("GET", "/api/queue")).body as unknown as Queue).projects[0];
  const inLine = [
    [1, "running", null],
    [2, "queued", 1],
    [3, "queued", 2],
  ];
  const seen = async () => (await queue())?.entries.map(({ number, state, position }) => [number, state, position]);
  await until("the first builder works", () => existsSync(trace) || undefined);
  expect(await seen()).toEqual(inLine);
  expect((await queue())?.name).toBe("shop");
  const whys = [null, "#1 works in the same folder", "#2 comes first in the same folder"];
  expect((await queue())?.entries.map(({ why }) => why)).toEqual(whys);
  const own = { folder: daemon.project, name: "own" };
  expect((await daemon.call("POST", "/api/projects", { body: own })).status).toBe(201);
  expect((await daemon.call("GET", "/api/projects")).body).toMatchObject({
    projects: [
      { name: "own", isOwn: true, lastRun: null },
      { name: "shop", isOwn: false, lastRun: { number: 3, title: "three" } },
    ],
  });

  const killed = daemon.process;
  killed.child.kill("SIGKILL");
  await killed.ended;
  await daemon.up();
  await until("the builder works again", () => readFileSync(trace, "utf8").split("\n").length > 2 || undefined);
  expect(await seen()).toEqual(inLine);
  writeFileSync(go, "");
  await until(
    "all three are done",
    async () => (await daemon.call("GET", "/api/queue")).text === '{"projects":[]}' || undefined,
    90_000,
  );

  const traced = readFileSync(trace, "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Traced);
  const ended = traced.filter(({ mark }) => mark === "end").map(({ run }) => run);
  expect(new Set(ended).size).toBe(3);
  expect(ended).toHaveLength(3);
  await until("the log is complete", () => logOf().split("Pipeline complete").length === 4 || undefined);
  const log = logOf();
  for (const number of [1, 2, 3]) {
    for (const line of ["Stage 1/2: Running builder", "Stage 1/2: builder completed", "Stage 2/2: Running reviewer"])
      expect(log).toContain(`#${number} shop: [pipeline] ${line}`);
    expect(log).toContain(`#${number} shop: reviewer: session without an id ended (exited)`);
  }
  // One run after the other.
  const order = [...log.matchAll(/#(\d) shop: \[pipeline\] Pipeline complete/gu)].map(([, number]) => number);
  expect(order).toEqual(["1", "2", "3"]);

  const shown = await daemon.passrail(["logs", "--project", "shop", "-n", "1"]);
  expect(shown).toMatchObject({ code: 0, out: expect.stringContaining("#3 shop: [pipeline] Pipeline complete") });
  const follower = daemon.start(["logs", "--follow", "-n", "1"]);
  let out = "";
  follower.child.stdout?.on("data", (text: string) => (out += text));
  await until("the follower shows the last line", () => out.includes("\n") || undefined, 60_000);
  await start("four");
  await until(
    "the follower shows the new lines",
    () => out.includes("#4 shop: [pipeline] Pipeline") || undefined,
    60_000,
  );
  follower.child.kill("SIGINT");
  expect((await follower.ended).code).toBe(0);
  expect(out).toContain("#4 shop: [pipeline] Stage 1/2: Running builder");
}, 180_000);

test("R-001-38: a second start says that it is up already; a note of a dead daemon does not", async () => {
  const again = await daemon.passrail(["start", "--detach"]);
  expect(again).toMatchObject({ code: 0, out: expect.stringContaining("is up already") });
  const killed = daemon.process;
  killed.child.kill("SIGKILL");
  await killed.ended;
  // The note is still there, and names a process; only the lock tells that nobody performs.
  expect(existsSync(join(daemon.home, "daemon.json"))).toBe(true);
  expect(await daemon.passrail(["status"])).toMatchObject({
    code: 5,
    out: expect.stringContaining("No daemon is running"),
  });
  await daemon.up();
  expect((await daemon.passrail(["stop"])).out).toContain("Stopped");
}, 120_000);
