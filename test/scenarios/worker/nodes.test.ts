// Workers and several nodes on one Postgres: one node performs, and when it dies another one takes over. Its workers follow, their agents
// work on, and what the dead node knew of a run is on the next one: commits, handoffs, keys.

import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { attemptFacts } from "../../../src/core/attempt-facts.ts";
import type { RunEvent } from "../../../src/core/run/event.ts";
import { answerOn } from "../../chaos/machines/answer.ts";
import { type Cluster, kill, makeKey, openCluster } from "../../chaos/machines/cluster.ts";
import { playerOf } from "../../harness/player.ts";
import { createDatabase, type TestDatabase } from "../../harness/postgres.ts";
import { until } from "../../harness/until.ts";
import { happyFeature } from "../cli/bench.ts";

let database: TestDatabase;
let cluster: Cluster;

beforeEach(async () => {
  database = await createDatabase();
});
afterEach(async () => {
  await cluster.close();
  await database.drop();
});

const events = (): Promise<readonly RunEvent[]> =>
  cluster.stored(async (store) => (await store.events({ after: 0, limit: 10_000 })).map(({ event }) => event));

test("R-X-05, R-X-16: a node is killed: its worker follows to the next one, and the agent that works is not repeated", {
  timeout: 240_000,
}, async () => {
  cluster = await openCluster({
    nodes: 2,
    database: database.url,
    settings: { workers: { place: "workers-only", lease: "40s" } },
  });
  const [first, second] = cluster.nodes;
  if (first === undefined || second === undefined) throw new Error("there are no nodes");
  await cluster.up(first);
  await cluster.up(second);
  await makeKey(cluster, first);
  const worker = cluster.join("box");
  const [starts, go] = [join(cluster.dir, "starts"), join(cluster.dir, "go")];
  const script = join(cluster.dir, "script.json");
  const said = {
    spec: [{ via: "json-tail", verdict: "APPROVED", write: { "spec.txt": "spec" }, commit: true }],
    design: [{ via: "json-tail", verdict: "APPROVED" }],
    build: [{ via: "json-tail", verdict: "COMPLETE", write: { "a.txt": "1" }, commit: true, trace: starts, hold: go }],
    qa: [{ via: "json-tail", verdict: "SHIP" }],
  };
  writeFileSync(script, JSON.stringify(said));
  const agent = `*=${playerOf(script).join(" ")}`;
  // Asked for on the one that stands by.
  const asked = await cluster.passrail(second, ["run", "feature", "Add login", "--agent", agent, "--detach"]);
  expect(asked).toMatchObject({ code: 0 });
  await until("its gate is answered there", async () => {
    await answerOn(second, (stage) => stage !== "ship");
    return (await events()).some(({ type }) => type === "gate.answered") ? true : undefined;
  });
  const begins = (): number => (existsSync(starts) ? readFileSync(starts, "utf8").split('"begin"').length - 1 : 0);
  await until(`the agent builds: ${worker.err}`, () => (begins() === 1 ? true : undefined), 60_000);
  const runId = (await events()).flatMap((event) => (event.type === "run.created" ? [event.id] : []))[0] ?? "";
  // While it works elsewhere, its record grows here.
  const live = join(first.home, "runs", runId, "build-1", "prompt.md");
  await until("its record is here", () => (existsSync(live) ? true : undefined));
  kill(first, "SIGKILL");
  await until("the other one performs", () => (worker.err.includes(`${second.url} answers again`) ? true : undefined));
  writeFileSync(go, "");
  await until("the run is at its last gate", async () => {
    const inbox = await cluster.stored((store) => store.inbox());
    return inbox[0]?.item.stage === "ship" ? true : undefined;
  });
  const stored = await events();
  expect(stored.map(({ type }) => type)).not.toContain("stage.interrupted");
  expect(begins()).toBe(1);
  const attempts = await cluster.stored((store) => store.attempts(runId));
  const build = attemptFacts(attempts.find(({ stage }) => stage === "build") ?? { facts: {} });
  expect(build.claim).toMatchObject({ worker: "box" });
  if (cluster.isApart) {
    const clone = join(second.home, "clone");
    const show = (what: string) => execFileSync("git", ["-C", clone, ...what.split(" ")], { encoding: "utf8" }).trim();
    expect(show(`rev-parse ${build.branch}`)).toBe(build.to);
    expect(show(`show ${build.branch}:spec.txt`)).toBe("spec");
    expect(show(`show ${build.branch}:a.txt`)).toBe("1");
  }
  // The record of the dead node's attempts is here, too.
  expect(readFileSync(join(second.home, "runs", runId, "spec-1", "prompt.md"), "utf8")).toContain("Add login");
  expect((await cluster.passrail(second, ["verify"])).out).toMatch(/^ok\t/);
  // Nothing on the worker's machine names the database: who is the same user there, as every agent is, cannot reach it.
  const name = new URL(database.url).pathname.slice(1);
  expect(filesBelow(worker.home).filter((path) => readFileSync(path).includes(name))).toEqual([]);
  expect(filesBelow(worker.home).length).toBeGreaterThan(10);
});

function filesBelow(folder: string): readonly string[] {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries.flatMap((entry) => (entry.isFile() ? [join(entry.parentPath, entry.name)] : []));
}

test("every gate of a run can be answered on a node that stands by", { timeout: 240_000 }, async () => {
  const settings = { workers: { place: "workers-only", lease: "40s" } };
  cluster = await openCluster({ nodes: 2, database: database.url, settings });
  const [first, second] = cluster.nodes;
  if (first === undefined || second === undefined) throw new Error("there are no nodes");
  await cluster.up(first);
  await cluster.up(second);
  await makeKey(cluster, first);
  cluster.join("box");
  const script = join(cluster.dir, "script.json");
  writeFileSync(script, JSON.stringify(happyFeature));
  const agent = `*=${playerOf(script).join(" ")}`;
  const asked = await cluster.passrail(second, ["run", "feature", "Add login", "--agent", agent, "--detach"]);
  expect(asked).toMatchObject({ code: 0 });
  await until("the run is completed", async () => {
    await answerOn(second);
    const runs = await cluster.stored((store) => store.listRuns({ limit: 1 }));
    return runs[0]?.status === "completed" ? true : undefined;
  });
  expect(second.err).not.toContain("taking over");
});
