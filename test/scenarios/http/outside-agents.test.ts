// A story that only agents outside work on, each with a key of its own: plan, rejects, a question, silence, stale work, completion. Every
// row says all that its receiver has to know, over HTTP and by SQL.

import { DatabaseSync } from "node:sqlite";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { openItems } from "../../../src/core/run/run.ts";
import { type Heartbeat, openHeartbeat } from "../../../src/engine/heartbeat.ts";
import type { HandoffRowShown } from "../../../src/http/contract/schemas/handoff-row.ts";
import type { Reply } from "./served.ts";
import { CODE, openWorld, PLAN, REVIEW, rowOf, type World } from "./stories.ts";

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const MINUTE = 60_000;
const AGENTS = ["analyst", "implementer", "reviewer", "refactorer", "documenter"] as const;
type Agent = (typeof AGENTS)[number];

/** A key for each agent, good for one story. */
async function keysFor(story: string): Promise<Readonly<Record<Agent, string>>> {
  const made = await Promise.all(
    AGENTS.map(async (agent) => {
      const reply = await world.served.call("POST", "/api/keys", {
        body: { name: agent, kind: "agent", agent, story },
      });
      expect(reply).toMatchObject({ status: 201, body: { kind: "agent", agent, story } });
      return [agent, String(reply.body["token"])] as const;
    }),
  );
  return Object.fromEntries(made) as Record<Agent, string>;
}

let heartbeat: Heartbeat | undefined;
afterEach(async () => {
  await heartbeat?.close();
  if (world.served.problems.length > 0) throw new Error(world.served.problems.join("\n"));
});

/** The performing process looks at its runs when the test says so, with the test's time. */
function openHeart(): Heartbeat {
  const { engine, store } = world.served.bench.passrail;
  const onError = (_run: string | null, error: unknown) => void world.served.problems.push(String(error));
  const clock = { now: () => new Date(world.nowMs()).toISOString() };
  const pace = { tickMs: 1e9, stalledAfterMs: 1e12, every: () => () => {} };
  return openHeartbeat({ store, engine, clock, ...pace, onError });
}

const later = (minutes: number): void => {
  const before = world.nowMs();
  world.nowMs = () => before + minutes * MINUTE;
};

/** The rows over HTTP; the same rows by SQL. */
async function rowsOf(story: string): Promise<readonly HandoffRowShown[]> {
  const { handoffs } = await world.state(story);
  const db = new DatabaseSync(join(world.served.bench.home, "passrail.db"), { readOnly: true });
  const rows = db.prepare("SELECT * FROM agent_handoffs WHERE story_id = ? ORDER BY id").all(story);
  db.close();
  expect(rows.map((row) => ({ ...row, payload: JSON.parse(String(row["payload"])) as unknown }))).toEqual(handoffs);
  return handoffs;
}

const edge = ({ from_agent, to_agent, status }: HandoffRowShown) => `${from_agent}→${to_agent} ${status}`;

test("R-003-03, R-003-13, R-003-21, R-003-32, R-003-35: agents outside take a story from the plan to its end, each with its own key", async () => {
  const start = Date.now();
  world.nowMs = () => start;
  heartbeat = openHeart();
  const story = await world.newStory();
  const keys = await keysFor(story);
  const as = (agent: Agent, body: object) => world.post(body, { token: keys[agent] });
  const signal = (agent: Agent, action: string, more: object = {}) =>
    world.served.call("POST", "/api/signal", { token: keys[agent], body: { storyId: story, action, ...more } });
  /** The agent's pending row, as the agent itself asks for it. */
  const pending = async (agent: Agent): Promise<HandoffRowShown> => {
    const path = `/api/handoffs?storyId=${encodeURIComponent(story)}&agent=${agent}`;
    const reply = await world.served.call("GET", path, { token: keys[agent] });
    expect(reply.body["handoff"]).toMatchObject({ to_agent: agent, status: "pending" });
    return rowOf(reply);
  };
  const create = (from: Agent, toAgent: string, payload: object, findings?: object[]) =>
    as(from, { action: "create", storyId: story, fromAgent: from, toAgent, payload, ...(findings && { findings }) });
  const reject = async (agent: Agent, reason: string, findings?: object[]): Promise<Reply> => {
    const { id } = await pending(agent);
    const reply = await as(agent, { action: "reject", handoffId: id, reason, ...(findings && { findings }) });
    expect(reply).toMatchObject({
      status: 200,
      body: { handoff: { id, status: "rejected", rejection_reason: reason } },
    });
    return reply;
  };

  // The plan; the implementer refuses it once, which uses nothing of the reviewer's budget.
  const first = await pending("analyst");
  expect(first.payload).toEqual({ story: { id: story, title: expect.any(String), body: "As a user …" } });
  const accepted = await as("analyst", { action: "accept", handoffId: first.id });
  expect(accepted).toMatchObject({
    status: 200,
    body: { handoff: { status: "accepted" }, leaseUntil: expect.any(String) },
  });
  await create("analyst", "implementer", PLAN);
  const refused = await reject("implementer", "The plan forgets the tests");
  const sentBack = { ...PLAN, rejection_reason: "The plan forgets the tests", rejected_by: "implementer" };
  expect(rowOf(refused, "returned")).toMatchObject({
    from_agent: "implementer",
    to_agent: "analyst",
    payload: sentBack,
  });
  await create("analyst", "implementer", { ...PLAN, plan: "with tests" });
  expect((await pending("implementer")).payload).toEqual({ ...PLAN, plan: "with tests" });

  // The reviewer refuses twice: once by reject, once by a create that sends the story back.
  await create("implementer", "reviewer", CODE);
  expect((await pending("reviewer")).payload).toEqual(CODE);
  await reject("reviewer", "Tests failing");
  const returned = { ...CODE, rejection_reason: "Tests failing", rejected_by: "reviewer" };
  expect((await pending("implementer")).payload).toEqual(returned);
  await create("implementer", "reviewer", CODE);
  const notFixed = [{ id: "F1", state: "not_fixed", reason: "still red" }];
  const back = await create("reviewer", "implementer", { review_notes: "line 7", reason: "Still failing" }, notFixed);
  expect(back).toMatchObject({ status: 200, body: { handoff: { to_agent: "implementer" }, inbox: null } });
  const again = {
    ...CODE,
    review_notes: "line 7",
    reason: "Still failing",
    rejection_reason: "Still failing",
    rejected_by: "reviewer",
  };
  expect((await pending("implementer")).payload).toEqual(again);

  // A question: only a person answers, and the answer is in the row by which the work comes back.
  const asked = await signal("implementer", "blocked", { message: "Which port?" });
  const item = String(asked.body["inbox"]);
  expect(asked).toMatchObject({
    status: 200,
    body: { story: { currentAgent: "implementer" }, inbox: expect.any(String) },
  });
  const answer = (body: object, token?: string) =>
    world.served.call("POST", `/api/inbox/${item}/answer`, { body, ...(token === undefined ? {} : { token }) });
  expect(await answer({ text: "80" }, keys.implementer)).toMatchObject({
    status: 403,
    body: { code: "scope_missing" },
  });
  expect(await answer({ text: "7377" })).toMatchObject({ status: 200 });
  const answered = { ...again, person_answers: [{ question: "Which port?", answer: "7377" }] };
  const row = await pending("implementer");
  expect(row).toMatchObject({ from_agent: "reviewer", payload: answered });

  // Silence after an accept. Signs of life keep the work; then it is taken back, twice, and then a person is asked.
  expect((await as("implementer", { action: "accept", handoffId: row.id })).status).toBe(200);
  later(25);
  const kept = await as("implementer", { action: "heartbeat", handoffId: row.id });
  const due = new Date(world.nowMs() + 30 * MINUTE).toISOString();
  expect(kept).toMatchObject({ status: 200, body: { handoff: { id: row.id, status: "accepted" }, leaseUntil: due } });
  later(25);
  expect((await signal("implementer", "progress", { message: "halfway" })).status).toBe(200);
  later(29);
  await heartbeat.tick();
  expect((await rowsOf(story)).at(-1)).toMatchObject({ id: row.id, status: "accepted" });
  // A process that was away for long gives the agent its time again.
  later(60);
  await heartbeat.close();
  heartbeat = openHeart();
  await heartbeat.tick();
  expect((await rowsOf(story)).at(-1)).toMatchObject({ id: row.id, status: "accepted" });
  for (const budget of ["first", "second"]) {
    later(31);
    await heartbeat.tick();
    const rows = await rowsOf(story);
    const silence = { status: "rejected", rejection_reason: "Taken back: implementer gave no sign of life for 30m" };
    expect([budget, rows.at(-2)]).toMatchObject([budget, { ...silence, payload: answered }]);
    const next = await pending("implementer");
    expect(next).toMatchObject({ from_agent: "reviewer", payload: answered });
    expect(await as("implementer", { action: "heartbeat", handoffId: next.id })).toMatchObject({ status: 409 });
    expect((await as("implementer", { action: "accept", handoffId: next.id })).status).toBe(200);
    expect((await as("implementer", { action: "heartbeat", handoffId: next.id })).status).toBe(200);
  }
  later(31);
  await heartbeat.tick();
  expect(await world.state(story)).toMatchObject({ currentAgent: null, phase: null });
  const run = await world.served.bench.load(await world.runOf(story));
  const [escalation] = openItems(run);
  expect(escalation).toMatchObject({ kind: "escalation", reason: expect.stringContaining("no sign of life") });
  const note = { answer: "again", text: "Use the staging host" };
  const path = `/api/inbox/${run.id}.${escalation?.number}/answer`;
  expect((await world.served.call("POST", path, { body: note })).status).toBe(200);
  const noted = { ...answered, person_notes: ["Use the staging host"] };
  expect((await pending("implementer")).payload).toEqual(noted);

  // Stale: nobody takes it. The start of another story times it out; a start of this one hands it over again, whole.
  later(31);
  const started = await world.served.call("POST", "/api/run", {
    body: { action: "start", storyId: "v9:1.1.1", title: "Other" },
  });
  expect(started).toMatchObject({ status: 200, body: { timedOutHandoffs: 1 } });
  expect((await rowsOf(story)).at(-1)).toMatchObject({ status: "rejected", payload: noted });
  expect((await world.served.call("POST", "/api/run", { body: { action: "start", storyId: story } })).status).toBe(200);
  expect((await pending("implementer")).payload).toEqual(noted);

  // To the end.
  const fixed = [
    { id: "F1", state: "fixed", reason: "green" },
    { id: "F2", state: "fixed", reason: "green" },
  ];
  await create("implementer", "reviewer", CODE);
  expect(await create("reviewer", "refactorer", REVIEW, fixed)).toMatchObject({ status: 200 });
  await create("refactorer", "documenter", { summary: "tidy" });
  expect((await pending("documenter")).payload).toEqual({ summary: "tidy" });
  const done = await signal("documenter", "complete", { message: "Done", prUrl: "https://example.org/pr/1" });
  expect(done).toMatchObject({
    status: 200,
    body: { story: { status: "completed", currentAgent: null, phase: "complete" } },
  });
  const rows = await rowsOf(story);
  expect(rows.at(-1)).toMatchObject({
    to_agent: "orchestrator",
    payload: { summary: "Done", pr_url: "https://example.org/pr/1" },
  });
  expect(rows.map(edge)).toEqual([
    "orchestrator→analyst accepted",
    "analyst→implementer rejected",
    "implementer→analyst accepted",
    "analyst→implementer accepted",
    "implementer→reviewer rejected",
    "reviewer→implementer accepted",
    "implementer→reviewer rejected",
    "reviewer→implementer accepted",
    "reviewer→implementer rejected",
    "reviewer→implementer rejected",
    "reviewer→implementer rejected",
    "reviewer→implementer rejected",
    "reviewer→implementer accepted",
    "implementer→reviewer accepted",
    "reviewer→refactorer accepted",
    "refactorer→documenter accepted",
    "documenter→orchestrator accepted",
  ]);
  const events = await world.served.bench.events(run.id);
  const actors = events.filter(({ type }) => type === "stage.started").map(({ actor }) => actor);
  expect(new Set(actors)).toEqual(new Set(AGENTS.map((agent) => `agent:${agent}`)));
  expect(await world.served.deps.store.verify()).toEqual([]);
});

test("R-003-39: a key of an agent reaches its own story as its own agent; nothing else exists for it", async () => {
  world.nowMs = () => Date.now();
  const story = await world.newStory();
  const other = await world.newStory();
  const keys = await keysFor(story);
  const token = keys.implementer;
  const get = (path: string) => world.served.call("GET", path, { token });
  const [own, foreign] = [await world.runOf(story), await world.runOf(other)];
  const row = await world.leadTo(story, "reviewer");
  const theirs = await world.leadTo(other, "implementer");

  // Another story answers like one that there is not.
  for (const id of [other, "v9:9.9.9"]) {
    expect(await get(`/api/handoffs?storyId=${id}`)).toMatchObject({ status: 404, body: { code: "story_not_found" } });
    const made = { action: "create", storyId: id, fromAgent: "implementer", toAgent: "reviewer", payload: CODE };
    expect(await world.post(made, { token })).toMatchObject({ status: 404 });
    const body = { storyId: id, action: "progress" };
    expect(await world.served.call("POST", "/api/signal", { body, token })).toMatchObject({ status: 404 });
  }
  for (const handoffId of [theirs.id, 999_999])
    for (const action of ["accept", "heartbeat"])
      expect(await world.post({ action, handoffId }, { token })).toMatchObject({
        status: 404,
        body: { code: "handoff_not_found" },
      });
  for (const run of [foreign, "r0000000000"]) {
    expect(await get(`/api/runs/${run}`)).toMatchObject({ status: 404, body: { code: "run_not_found" } });
    const path = `/api/runs/${run}/attempts/implementer/start`;
    expect(await world.served.call("POST", path, { body: {}, token })).toMatchObject({ status: 404 });
    expect(await world.served.call("POST", `/api/runs/${run}/verdict`, { body: {}, token })).toMatchObject({
      status: 404,
    });
  }
  expect(await get(`/api/runs/${own}`)).toMatchObject({ status: 200 });

  // In its own story it speaks for no other agent, and never for the operator.
  for (const body of [
    { action: "accept", handoffId: row.id },
    { action: "reject", handoffId: row.id, reason: "mine" },
    { action: "timeout", handoffId: row.id },
    { action: "cleanup", storyId: story },
    { action: "create", storyId: story, fromAgent: "reviewer", toAgent: "refactorer" },
    { action: "create", storyId: story, fromAgent: "orchestrator", toAgent: "analyst" },
  ])
    expect(await world.post(body, { token })).toMatchObject({ status: 403, body: { code: "scope_missing" } });

  // Lists leave out what it does not reach.
  const stale = (await get("/api/handoffs?stale=true&minutes=0")).body["stale"] as HandoffRowShown[];
  expect(stale.map(({ story_id }) => story_id)).toEqual([story]);
  const work = async (of: string) =>
    ((await world.served.call("GET", "/api/work", { token: of })).body["work"] as { run: string; stage: string }[]).map(
      (each) => `${each.run} ${each.stage}`,
    );
  expect(await work(token)).toEqual([]);
  expect(await work(keys.reviewer)).toEqual([`${own} reviewer`]);
  const wide = await world.served.keys.create({ name: "any", kind: "agent", agent: "implementer" });
  expect(await work(wide.token)).toContain(`${foreign} implementer`);
  // Taken by its own agent, with the prompt; and the key ends.
  const taken = await world.served.call("POST", `/api/runs/${own}/attempts/reviewer/start`, {
    body: {},
    token: keys.reviewer,
  });
  expect(taken).toMatchObject({ status: 200, body: { agent: "reviewer", prompt: expect.stringContaining(story) } });
  const past = new Date(Date.now() - MINUTE).toISOString();
  const gone = await world.served.keys.create({ name: "old", kind: "agent", agent: "reviewer", expiresAt: past });
  expect(await world.served.call("GET", "/api/work", { token: gone.token })).toMatchObject({ status: 401 });
  for (const [body, pointer] of [
    [{ name: "a", kind: "agent" }, "/agent"],
    [{ name: "a", kind: "viewer", agent: "reviewer" }, "/agent"],
    [{ name: "a", kind: "operator", story }, "/story"],
    [{ name: "a", kind: "agent", agent: "reviewer", expiresAt: "soon" }, "/expiresAt"],
  ] as const)
    expect(await world.served.call("POST", "/api/keys", { body })).toMatchObject({ status: 422, body: { pointer } });
});

test("R-003-32: each pair of agents has a budget of its own, and the reviewer's third reject asks a person", async () => {
  world.nowMs = () => Date.now();
  const story = await world.newStory();
  const rejectAt = async (agent: string, findings?: object[]) => {
    const { id } = (await world.state(story)).handoffs.findLast(({ to_agent }) => to_agent === agent) ?? {};
    return world.post({ action: "reject", handoffId: id, reason: "no", ...(findings && { findings }) });
  };
  await world.create(story, "analyst", "implementer", PLAN);
  for (let round = 0; round < 2; round += 1) {
    expect((await rejectAt("implementer")).body).toMatchObject({ inbox: null, returned: { to_agent: "analyst" } });
    await world.create(story, "analyst", "implementer", PLAN);
  }
  for (let round = 0; round < 2; round += 1) {
    await world.create(story, "implementer", "reviewer", CODE);
    const findings = round === 0 ? undefined : [{ id: "F1", state: "fixed", reason: "done" }];
    expect((await rejectAt("reviewer", findings)).body).toMatchObject({
      inbox: null,
      returned: { to_agent: "implementer" },
    });
  }
  await world.create(story, "implementer", "reviewer", CODE);
  const spent = await rejectAt("reviewer", [{ id: "F2", state: "fixed", reason: "done" }]);
  expect(spent.body).toMatchObject({ returned: null, inbox: expect.any(String) });
});

test("R-003-34: a start times out what agents outside leave lying, never work that only waits for a slot", async () => {
  world.nowMs = () => Date.now();
  const { bench, deps } = world.served;
  const hold = join(bench.dir, "go");
  // One story more than there are slots, played by programs; the last one waits in the queue.
  const ids = Array.from({ length: deps.config.slots.value + 1 }, (_, index) => `v7:1.1.${index}`);
  for (const subject of ids)
    await bench.run("story", { analyst: [{ via: "none", hold }] }, { subject, title: subject, wait: false });
  const waiting = ids.at(-1) ?? "";
  const abandoned = await world.newStory();
  expect((await world.state(waiting)).handoffs).toMatchObject([{ to_agent: "analyst", status: "pending" }]);
  later(31);
  const begin = (storyId: string) =>
    world.served.call("POST", "/api/run", { body: { action: "start", storyId, title: storyId } });
  // The queued story itself is at work; another start cleans what nobody took, and only that.
  expect(await begin(waiting)).toMatchObject({ status: 409, body: { code: "story_active" } });
  expect((await begin("v8:1.1.1")).status).toBe(200);
  const reason = "Timed out on restart: analyst did not take it within 30 minutes";
  expect((await world.state(abandoned)).handoffs).toMatchObject([{ status: "rejected", rejection_reason: reason }]);
  expect((await world.state(waiting)).handoffs).toMatchObject([{ status: "pending" }]);
  writeFileSync(hold, "");
  world.nowMs = () => Date.now();
});
