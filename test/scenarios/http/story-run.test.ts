// Stories as a whole, the second way of reporting, verdicts over HTTP, and work for agents outside.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openItems } from "../../../src/core/run/run.ts";
import { until } from "../../harness/until.ts";
import type { CallOptions, Reply } from "./served.ts";
import { CODE, openWorld, PLAN, rowOf, type World } from "./stories.ts";

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const MINUTE = 60_000;
const seq = () => world.served.seq();
const run = (body: object, options: CallOptions = {}) => world.served.call("POST", "/api/run", { body, ...options });
const signal = (storyId: string, action: string, more: object = {}) =>
  world.served.call("POST", "/api/signal", { body: { storyId, action, ...more } });
const loaded = async (storyId: string) => world.served.bench.load(await world.runOf(storyId));
/** Refused, and nothing has happened. */
const refused = async (call: () => Promise<Reply>, status: number, code: string) => {
  const before = await seq();
  const reply = await call();
  expect({ status: reply.status, code: reply.body["code"] }).toEqual({ status, code });
  expect(await seq()).toBe(before);
  return reply.body;
};

test("R-003-34: a start times out what is stale in all stories, leaves what is younger, and starts the story", async () => {
  const stale = await world.newStory();
  const [old] = (await world.state(stale)).handoffs;
  const created = Date.parse(old?.created_at ?? "");
  world.nowMs = () => created + 30 * MINUTE;
  const early = await run({ action: "start", storyId: "v1:0.0.1", title: "Early", body: "Do it." });
  expect(early).toMatchObject({ status: 200, body: { success: true, timedOutHandoffs: 0 } });
  expect((await world.state(stale)).handoffs).toMatchObject([{ status: "pending" }]);
  const [younger] = (await world.state("v1:0.0.1")).handoffs;
  expect(Date.parse(younger?.created_at ?? "")).toBeGreaterThan(created);
  world.nowMs = () => created + 30 * MINUTE + 1;
  const reply = await run({ action: "start", storyId: "v1:0.0.2" });
  world.nowMs = () => Date.now();
  expect(reply).toMatchObject({ status: 200, body: { timedOutHandoffs: 1, stories: [{ storyId: "v1:0.0.2" }] } });
  expect((await world.state(stale)).handoffs).toMatchObject([
    { status: "rejected", rejection_reason: expect.stringMatching(/restart.*analyst/u) },
  ]);
  expect((await world.state("v1:0.0.1")).handoffs).toMatchObject([{ status: "pending" }]);
  expect(await world.state("v1:0.0.2")).toMatchObject({
    currentAgent: "analyst",
    handoffs: [{ status: "pending", payload: { story: { id: "v1:0.0.2", title: "v1:0.0.2", body: "" } } }],
  });
  // What was given up for want of a taker runs again when it is started itself.
  expect(await run({ action: "start", storyId: stale })).toMatchObject({
    status: 200,
    body: { stories: [{ storyId: stale, status: "running", currentAgent: "analyst" }] },
  });
  expect((await world.state(stale)).handoffs).toMatchObject([{ status: "rejected" }, { status: "pending" }]);
});

test("R-003-34: a story that runs or waits is not started; one that has ended is, and GET tells how all are", async () => {
  const story = await world.newStory();
  await refused(() => run({ action: "start", storyId: story }), 409, "story_active");
  const [first] = (await world.state(story)).handoffs;
  await world.post({ action: "reject", handoffId: first?.id, reason: "Not a story" });
  await refused(() => run({ action: "start", storyId: story }), 409, "story_active");
  const status = await world.served.call("GET", "/api/run");
  expect(status).toMatchObject({ status: 200, body: { running: true } });
  expect(status.body["stories"]).toEqual(
    expect.arrayContaining([expect.objectContaining({ storyId: story, status: "waiting", currentAgent: null })]),
  );
  await world.served.call("POST", `/api/runs/${await world.runOf(story)}/cancel`, { body: {} });
  const [once, twice] = await Promise.all([
    run({ action: "start", storyId: story, title: "Better" }),
    run({ action: "start", storyId: story, title: "Better" }),
  ]);
  expect(new Set([once.status, twice.status])).toEqual(new Set([200, 409]));
  expect((await loaded(story)).subject.title).toBe("Better");
  const keyed = { headers: { "idempotency-key": "start-1" } };
  const begun = await run({ action: "start", storyId: "v1:0.0.3" }, keyed);
  world.restart();
  expect((await run({ action: "start", storyId: "v1:0.0.3" }, keyed)).body).toEqual(begun.body);
});

test("R-003-34: stop lets nothing start, continue cleans nothing, reset closes what is pending", async () => {
  const story = await world.newStory();
  const [row] = (await world.state(story)).handoffs;
  const accept = () => world.post({ action: "accept", handoffId: row?.id });
  expect(await run({ action: "stop", storyId: story })).toMatchObject({
    body: { success: true, stories: [{ storyId: story, paused: true }] },
  });
  await refused(accept, 409, "out_of_turn");
  world.nowMs = () => Date.now() + 60 * MINUTE;
  expect(await run({ action: "continue", storyId: story })).toMatchObject({
    status: 200,
    body: { timedOutHandoffs: 0, stories: [{ storyId: story, paused: false }] },
  });
  world.nowMs = () => Date.now();
  expect((await world.state(story)).handoffs).toMatchObject([{ status: "pending" }]);
  expect(await run({ action: "reset", storyId: story })).toMatchObject({ status: 200, body: { clearedHandoffs: 1 } });
  expect((await world.state(story)).handoffs).toMatchObject([{ status: "rejected", rejection_reason: "Reset" }]);
  expect(await run({ action: "reset", storyId: story })).toMatchObject({ status: 200, body: { clearedHandoffs: 0 } });
  expect(await run({ action: "continue", storyId: story })).toMatchObject({
    body: { stories: [{ status: "running" }] },
  });
  expect((await world.state(story)).handoffs).toMatchObject([{ status: "rejected" }, { status: "pending" }]);
});

test("R-003-34: without a story all of them are meant; an unknown action names those that there are", async () => {
  for (const body of [{}, { action: "go" }, { action: 1 }]) {
    const { error } = await refused(() => run(body), 400, "invalid_request");
    for (const action of ["start", "continue", "stop", "reset"]) expect(error).toContain(action);
  }
  await refused(() => run({ action: "stop", storyId: "v9:9.9.9" }), 404, "story_not_found");
  await refused(() => run({ action: "start", storyId: "v9:9.9.9", flow: "feature" }), 422, "unknown_flow");
  const story = await world.newStory();
  await run({ action: "continue" });
  await refused(() => run({ action: "start" }), 409, "story_active");
  await run({ action: "stop" });
  expect((await world.served.call("GET", "/api/run")).body["running"]).toBe(false);
  const resumed = await run({ action: "start" });
  expect(resumed.body["stories"]).toEqual(expect.arrayContaining([expect.objectContaining({ storyId: story })]));
  expect((await run({ action: "reset" })).body["clearedHandoffs"]).toBeGreaterThan(0);
  const stale = await world.served.call("GET", "/api/handoffs?stale=true&minutes=0");
  expect(stale.body["stale"]).toEqual([]);
});

test("R-003-35: an agent tells its progress, is blocked until a person answers, and the last one completes the story", async () => {
  const story = await world.newStory();
  await world.leadTo(story, "implementer");
  expect(await signal(story, "progress", { message: "half" })).toMatchObject({
    status: 200,
    body: { success: true, inbox: null, story: { currentAgent: "implementer", status: "running" } },
  });
  expect((await world.state(story)).handoffs.at(-1)?.status).toBe("accepted");
  const { store } = world.served.deps;
  const noted = (await store.attempts(await world.runOf(story))).find(({ stage }) => stage === "implementer");
  expect(noted?.facts["progress"]).toMatchObject({ message: "half" });
  await refused(() => signal(story, "complete"), 409, "out_of_turn");
  const blocked = await signal(story, "blocked", { message: "Which database?" });
  const item = `${await world.runOf(story)}.1`;
  expect(blocked).toMatchObject({ status: 200, body: { inbox: item, story: { status: "waiting" } } });
  expect(openItems(await loaded(story))).toMatchObject([{ kind: "question", questions: ["Which database?"] }]);
  await world.served.call("POST", `/api/inbox/${item}/answer`, { body: { text: "SQLite" } });
  expect(await world.state(story)).toMatchObject({ currentAgent: "implementer" });
  for (const [from, to, payload] of [
    ["implementer", "reviewer", CODE],
    ["reviewer", "refactorer", {}],
    ["refactorer", "documenter", {}],
  ] as const)
    expect((await world.create(story, from, to, payload)).status).toBe(200);
  const done = await signal(story, "complete", { message: "Shipped", prUrl: "https://example.com/pr/1" });
  expect(done).toMatchObject({ status: 200, body: { story: { status: "completed", phase: "complete" } } });
  expect((await world.state(story)).handoffs.at(-1)).toMatchObject({
    from_agent: "documenter",
    to_agent: "orchestrator",
    status: "accepted",
    payload: { summary: "Shipped", pr_url: "https://example.com/pr/1" },
  });
  await refused(() => signal(story, "complete"), 409, "out_of_turn");
});

test("R-003-35: signals that cannot be meant", async () => {
  const story = await world.newStory();
  await refused(() => signal("v9:9.9.9", "progress"), 404, "story_not_found");
  for (const body of [
    { storyId: story },
    { storyId: story, action: "done" },
    { action: "complete" },
    { storyId: story, action: "complete", prUrl: "javascript:alert(1)" },
    { storyId: story, action: "blocked", message: 7 },
  ])
    await refused(() => world.served.call("POST", "/api/signal", { body }), 400, "invalid_request");
});

test("R-003-04: a story goes with its handoffs once it has ended, and with the files of its attempts", async () => {
  const story = await world.newStory();
  const other = await world.newStory();
  const runId = await world.runOf(story);
  const remove = () => world.served.call("DELETE", `/api/stories/${encodeURIComponent(story)}`);
  await refused(remove, 409, "story_active");
  await world.served.call("POST", `/api/runs/${runId}/cancel`, { body: {} });
  const gone = await until("its workspace is released", async () => {
    const reply = await remove();
    return reply.status === 200 ? reply : undefined;
  });
  expect(gone.body).toEqual({ success: true, runs: [runId] });
  expect(await world.served.call("GET", `/api/handoffs?storyId=${story}`)).toMatchObject({ status: 404 });
  expect(existsSync(join(world.served.bench.home, "runs", runId))).toBe(false);
  expect((await world.state(other)).handoffs).toHaveLength(1);
  await refused(remove, 404, "story_not_found");
  expect(await world.served.deps.store.verify()).toEqual([]);
});

const feature = async () => {
  const facts = { runners: { "*": { runner: "outside" } } };
  const { id } = await world.served.bench.run("feature", {}, { subject: `F-${await seq()}`, facts, wait: false });
  const approved = await world.served.call("POST", `/api/inbox/${id}.1/answer`, {
    body: { answer: "approve" },
    headers: { "if-match": "*" },
  });
  expect(approved.status).toBe(200);
  return id;
};
const verdict = (runId: string, body: object, options: CallOptions = {}) =>
  world.served.call("POST", `/api/runs/${runId}/verdict`, { body, ...options });

test("an agent outside finds its work, takes it, and gives a verdict in the words of its flow", async () => {
  const runId = await feature();
  const work = await world.served.call("GET", "/api/work");
  const own = (work.body["work"] as { run: string; stage: string; agent: string }[]).find((each) => each.run === runId);
  expect(own).toMatchObject({ flow: "feature", attempt: 1 });
  const { stage = "", agent = "" } = own ?? {};
  const asked = await world.served.call("GET", `/api/work?agent=${agent}`);
  expect(asked.body["work"]).toEqual(expect.arrayContaining([own]));
  expect((await world.served.call("GET", "/api/work?agent=nobody")).body).toEqual({ work: [] });
  const start = () => world.served.call("POST", `/api/runs/${runId}/attempts/${stage}/start`, { body: {} });
  const taken = await start();
  expect(taken).toMatchObject({
    status: 200,
    body: { run: runId, stage, agent, project: world.served.bench.project, branch: expect.stringContaining(runId) },
  });
  expect(taken.body["prompt"]).toContain(`/api/runs/${runId}/verdict`);
  expect(taken.body["prompt"]).toContain("All of it.");
  await refused(start, 409, "out_of_turn");
  const { subject } = await world.served.bench.load(runId);
  const record = { agent, feature_id: subject.id, verdict: "APPROVED", issues: [], summary: "fine", stage };
  for (const [change, reason] of [
    [{ verdict: "MAYBE" }, "MAYBE"],
    [{ verdict: undefined }, "verdict"],
    [{ verdict: 7 }, "verdict"],
    [{ feature_id: "F-other" }, "F-other"],
    [{ agent: "somebody" }, "somebody"],
    [{ verdit: "APPROVED" }, "verdit"],
    [{ issues: "many" }, "issues"],
  ] as const) {
    const body = await refused(() => verdict(runId, { ...record, ...change }), 422, "verdict_invalid");
    expect(body["detail"]).toContain(reason);
  }
  await refused(() => verdict(runId, { ...record, stage: "qa" }), 409, "out_of_turn");
  const given = await verdict(runId, record, { headers: { "idempotency-key": "verdict-1" } });
  expect(given).toMatchObject({
    status: 200,
    body: { run: { id: runId }, stage, attempt: 1, health: "complete", verdict: "pass", word: "APPROVED" },
  });
  world.restart();
  const again = await verdict(runId, record, { headers: { "idempotency-key": "verdict-1" } });
  expect(again).toMatchObject({ status: 200, body: { stage, attempt: 1, word: "APPROVED" } });
  const finished = (await world.served.bench.events(runId)).filter(({ type }) => type === "stage.finished");
  expect(finished).toHaveLength(1);
});

test("of fifty verdicts at once one counts", async () => {
  const runId = await feature();
  const replies = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      verdict(runId, { stage: "spec", verdict: index % 2 === 0 ? "APPROVED" : "REVISE", summary: "x", issues: ["y"] }),
    ),
  );
  const counted = replies.filter(({ status }) => status === 200).map(({ body }) => body["attempt"]);
  const events = await world.served.bench.events(runId);
  expect(events.filter(({ type }) => type === "stage.finished")).toHaveLength(counted.length);
  expect(counted).toEqual([1]);
  expect(events.filter(({ type }) => type === "signal.ignored")).toEqual([]);
});

test("what a program plays takes no verdict from others", async () => {
  const story = await world.newStory({ runners: { "*": [process.execPath, "-e", "setTimeout(() => {}, 60000)"] } });
  const runId = await world.runOf(story);
  await refused(() => verdict(runId, { verdict: "approved" }), 409, "played_by_program");
  await refused(() => signal(story, "blocked"), 409, "played_by_program");
  const listed = await world.served.call("GET", "/api/work");
  expect(JSON.stringify(listed.body)).not.toContain(runId);
  await refused(
    () => world.served.call("POST", `/api/runs/${runId}/attempts/analyst/start`, { body: {} }),
    409,
    "out_of_turn",
  );
  await world.served.call("POST", `/api/runs/${runId}/cancel`, { body: {} });
});

test("an agent that was started gives its verdict with its own token, once", async () => {
  const file = join(world.served.bench.dir, "analyst-token");
  const wait = `sed -n 's/^PASSRAIL_TOKEN = //p' | tr -d '\\n' > ${file}.new && mv ${file}.new ${file}; exec sleep 60`;
  const story = await world.newStory({
    runners: { "*": { runner: "outside" }, analyst: { command: ["/bin/sh", "-c", wait] } },
  });
  const token = await until("its token", () => (existsSync(file) ? readFileSync(file, "utf8") : undefined));
  const runId = await world.runOf(story);
  const own = { token };
  await refused(() => verdict(runId, { verdict: "fine" }, own), 422, "verdict_invalid");
  await refused(() => verdict(runId, { verdict: "approved", story_id: "v9:9.9.9" }, own), 422, "verdict_invalid");
  await refused(() => verdict(runId, { verdict: "approved", stage: "implementer" }, own), 409, "out_of_turn");
  const given = await verdict(runId, { verdict: "approved", agent: "analyst", story_id: story, payload: PLAN }, own);
  expect(given).toMatchObject({ status: 200, body: { stage: "analyst", verdict: "pass", warnings: [] } });
  expect((await world.state(story)).handoffs.at(-1)).toMatchObject({ to_agent: "implementer", payload: PLAN });
  expect((await verdict(runId, { verdict: "approved" }, own)).status).toBe(401);
});

test("R-003-38: whoever takes a story's work is told address, story and branch as lines", async () => {
  const story = await world.newStory();
  const taken = await world.served.call("POST", `/api/runs/${await world.runOf(story)}/attempts/analyst/start`, {
    body: {},
  });
  const prompt = String(taken.body["prompt"]);
  expect(prompt).toMatch(/^DASHBOARD_URL = http:\/\/\S+$/mu);
  expect(prompt).toContain(`\nSTORY_ID = ${story}\n`);
  expect(prompt).toContain(`\nBRANCH = feat/story-${story.slice(story.indexOf(":") + 1)}\n`);
  expect(rowOf(await world.create(story, "analyst", "implementer", PLAN)).status).toBe("pending");
});
