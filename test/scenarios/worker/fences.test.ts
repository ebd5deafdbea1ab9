// What happens to attempts of workers when something dies: the worker, the node, or the way between them. A stage is carried out once, or
// again after its claim was lost; what a worker says too late is refused.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, test } from "vitest";
import { attemptFacts } from "../../../src/core/attempt-facts.ts";
import { until } from "../../harness/until.ts";
import { type JoinedWorker, lines, openSite, runIdOf, type Site } from "./site.ts";

let site: Site;
afterEach(() => site.close());

/** A run whose only agent works until it may end. */
async function startRun(): Promise<string> {
  const { node } = site;
  const agent = node.player({ "*": [{ via: "json-tail", verdict: "COMPLETE", trace: starts(), hold: go() }] });
  const words = ["run", "routed", "Build it", "--input", "input.agent=builder", "--agent", `builder=${agent}`];
  expect(await node.passrail([...words, "--workspace", "worktree", "--detach"])).toMatchObject({ code: 0 });
  await until("the agent works", () => begins() > 0 || undefined, 90_000);
  return runIdOf(site);
}

const go = (): string => join(site.node.dir, "go");
const starts = (): string => join(site.node.dir, "starts");
const begins = (): number => lines(starts()).filter((line) => line.includes('"begin"')).length;

const workersOf = async (runId: string): Promise<readonly (string | undefined)[]> =>
  (await site.attempts(runId))
    .filter(({ stage }) => stage === "builder")
    .map((record) => attemptFacts(record).claim?.worker);

async function finish(times: number): Promise<void> {
  writeFileSync(go(), "");
  await site.seen("stage.finished");
  const finished = (await site.events()).filter(({ type }) => type === "stage.finished");
  expect(finished).toHaveLength(1);
  expect(begins()).toBe(times);
}

test("R-X-05: a worker is killed, and when its lease is over its stage runs on another one", {
  timeout: 240_000,
}, async () => {
  site = await openSite();
  const one = await site.join("one");
  const runId = await startRun();
  await site.join("two");
  one.child.kill("SIGKILL");
  await site.seen("stage.interrupted");
  await until("it works again", () => begins() === 2 || undefined, 60_000);
  expect(await workersOf(runId)).toEqual(["one", "two"]);
  await finish(2);
});

test("R-X-05: a node is killed and started again: the worker's attempt works on, and nothing is repeated", {
  timeout: 240_000,
}, async () => {
  site = await openSite({ workers: { place: "workers-only", lease: "60s" } });
  const { node } = site;
  const port = new URL(node.url).port;
  await site.join("one");
  const runId = await startRun();
  node.process.child.kill("SIGKILL");
  await node.process.ended;
  await node.up("--port", port);
  await finish(1);
  expect((await site.events()).map(({ type }) => type)).not.toContain("stage.interrupted");
  expect(await workersOf(runId)).toEqual(["one"]);
});

test("a worker that is stopped past its lease ends its agent, and its late words are refused", {
  timeout: 240_000,
}, async () => {
  site = await openSite();
  const one = await site.join("one");
  const runId = await startRun();
  one.child.kill("SIGSTOP");
  await site.join("two");
  await site.seen("stage.interrupted");
  await until("it works again", () => begins() === 2 || undefined, 60_000);
  one.child.kill("SIGCONT");
  await until(
    "it says what became of its work",
    () => one.err().includes("its work is kept under refs/passrail/wip/") || undefined,
    60_000,
  );
  expect(await workersOf(runId)).toEqual(["one", "two"]);
  await finish(2);
});

test("S06: a worker's token reaches neither the claims of others nor anything else", { timeout: 240_000 }, async () => {
  site = await openSite();
  const { node } = site;
  await site.join("one");
  const runId = await startRun();
  const thief: JoinedWorker = await site.join("thief", { keyArgs: ["--labels", "gpu"] });
  const record = (await site.attempts(runId)).find(({ stage }) => stage === "builder");
  const claim = attemptFacts(record ?? { facts: {} }).claim?.id ?? "";
  const list = await node.call("GET", "/api/workers");
  expect(list.text).not.toContain(claim);
  const body = { instance: "0".repeat(32), node: "0".repeat(16), from: 1, messages: [] };
  const as = { token: thief.token };
  expect(await node.call("POST", `/api/worker/claims/${claim}/commits`, { ...as, body: { known: [] } })).toMatchObject({
    status: 409,
    body: { code: "claim_lost" },
  });
  expect(
    (await node.call("POST", `/api/worker/claims/${claim}/messages`, { ...as, body })).status,
  ).toBeGreaterThanOrEqual(409);
  for (const path of ["/api/runs", `/api/runs/${runId}`, "/api/settings", "/api/inbox", "/api/workers"])
    expect(await node.call("GET", path, as)).toMatchObject({ status: 403, body: { code: "scope_missing" } });
  await node.passrail([
    "key",
    "revoke",
    String(
      JSON.parse((await node.passrail(["key", "list", "--json"])).out).keys.find(
        (key: { name: string }) => key.name === "thief",
      ).id,
    ),
  ]);
  expect(await thief.ended).toMatchObject({ code: 1, err: expect.stringContaining("auth_invalid") });
  await finish(1);
});
