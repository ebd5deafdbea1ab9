// Source 003 over HTTP: the form of requests, who may, what many do at once, and what is told live.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PAYLOAD_BYTES } from "../../../src/http/contract/schemas/handoff-action.ts";
import { TOKEN_PREFIX } from "../../../src/http/contract/scopes.ts";
import { until } from "../../harness/until.ts";
import { CODE, openWorld, PLAN, REVIEW, rowOf, type World } from "./stories.ts";

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

const seq = () => world.served.seq();

test("R-003-06: a payload comes back as the object it was, null where there was none; more than a megabyte is refused", async () => {
  const story = await world.newStory();
  const filled = (bytes: number) => ({
    ...PLAN,
    plan: "x".repeat(bytes - JSON.stringify({ ...PLAN, plan: "" }).length),
  });
  const before = await seq();
  for (const payload of [filled(PAYLOAD_BYTES + 1), filled(2 * PAYLOAD_BYTES)])
    expect((await world.create(story, "analyst", "implementer", payload)).status).toBe(413);
  expect(await seq()).toBe(before);
  for (const payload of [[], "text", 1, null, true])
    expect((await world.create(story, "analyst", "implementer", payload)).status).toBe(400);
  const odd = { ...filled(PAYLOAD_BYTES - 100), __proto__x: "ä\u2028", n: [1, { deep: null }] };
  const reply = await world.create(story, "analyst", "implementer", odd);
  const made = rowOf(reply);
  expect(made.payload).toEqual(odd);
  expect(rowOf(await world.create(story, "implementer", "reviewer")).payload).toBeNull();
});

test("what looks like a key in what an agent sends is not kept", async () => {
  const story = await world.newStory();
  const key = `sk-ant-${"abCd".repeat(10)}`;
  const [first] = (await world.state(story)).handoffs;
  await world.post({ action: "accept", handoffId: first?.id, payload: { note: `with ${key}` } });
  await world.create(story, "analyst", "implementer", { ...PLAN, approach: `use ${key}`, risks: [{ deep: key }] });
  const row = (await world.state(story)).handoffs.at(-1);
  await world.post({ action: "reject", handoffId: row?.id, reason: `no, ${key}` });
  const state = JSON.stringify(await world.state(story));
  const events = JSON.stringify(await world.served.bench.events(await world.runOf(story)));
  for (const kept of [state, events]) expect([kept.includes(key), kept.includes("[REDACTED:")]).toEqual([false, true]);
});

test("R-003-30: the body is JSON whatever its type says, as curl sends it; what is no JSON is refused", async () => {
  const story = await world.newStory();
  const types = [
    "application/x-www-form-urlencoded",
    "text/plain",
    "application/json",
    "multipart/form-data; boundary=x",
  ];
  for (const [index, type] of types.entries()) {
    const row = (await world.state(story)).handoffs.at(-1);
    const body = JSON.stringify(
      index % 2 === 0
        ? { action: "timeout", handoffId: row?.id }
        : { action: "create", storyId: story, fromAgent: "orchestrator", toAgent: "analyst" },
    );
    expect((await world.post(body, { headers: { "content-type": type } })).status).toBe(200);
  }
  const before = await seq();
  for (const body of [
    '{"action":',
    "action=accept&handoffId=1",
    "",
    "[]",
    "null",
    '{"action":"accept","action":"reject"}',
    "\u{feff}{}",
  ])
    expect((await world.post(body, { headers: { "content-type": "text/plain" } })).status).toBe(400);
  expect(await seq()).toBe(before);
});

test("S03: a browser must say that it sends JSON, and may come from nowhere else", async () => {
  const story = await world.newStory();
  const body = JSON.stringify({ action: "cleanup", storyId: story });
  const before = await seq();
  const own = { origin: "http://127.0.0.1:4321" };
  for (const [headers, status] of [
    [{ "content-type": "text/plain", ...own }, 415],
    [{ "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" }, 415],
    [{ "content-type": "text/plain", "sec-fetch-mode": "no-cors" }, 415],
    [{ "content-type": "application/json", origin: "http://evil.example" }, 403],
    [{ "content-type": "application/json", origin: "null" }, 403],
    [{ "content-type": "text/plain", "sec-fetch-site": "cross-site" }, 403],
  ] as const)
    for (const path of ["/api/handoffs", "/api/run", "/api/signal"])
      expect((await world.served.call("POST", path, { body, headers })).status).toBe(status);
  expect(await seq()).toBe(before);
  const allowed = await world.post(body, { headers: { ...own, "sec-fetch-site": "same-origin" } });
  expect(allowed.body).toMatchObject({ deleted: 1 });
});

const PLAYER = join(import.meta.dirname, "../../fixtures/player/play.mjs");

test("R-003-39: the token of a spawned agent hands its own story on as that agent, and does nothing else", async () => {
  const other = await world.newStory();
  const theirs = await world.leadTo(other, "implementer");
  const { dir } = world.served.bench;
  const [hold, script, log] = [join(dir, "hold"), join(dir, "spawned.json"), join(dir, "tokens")];
  writeFileSync(script, JSON.stringify({ "*": [{ hold, via: "none" }] }));
  const spawn = (stage: string) => [
    "/bin/sh",
    "-c",
    `printf '%s %s\\n' "$PASSRAIL_STAGE" "$(sed -n 's/^PASSRAIL_TOKEN = //p')" >> ${log}; exec "$@"`,
    stage,
    process.execPath,
    PLAYER,
    script,
  ];
  const story = await world.newStory({
    runners: { "*": { runner: "outside" }, implementer: { command: spawn("implementer") } },
  });
  await world.leadTo(story, "implementer");
  const token = await until("the token", async () => {
    const line = await Promise.resolve()
      .then(() => readFileSync(log, "utf8"))
      .catch(() => "");
    return /^implementer (\S+)$/mu.exec(line)?.[1];
  });
  expect(token).toMatch(new RegExp(`^${TOKEN_PREFIX.attempt}`, "u"));
  const before = await seq();
  const as = (body: unknown, path = "/api/handoffs") => world.served.call("POST", path, { body, token });
  const row = (await world.state(story)).handoffs.at(-1);
  expect(row).toMatchObject({ to_agent: "implementer", status: "accepted" });
  const create = (storyId: string, fromAgent: string, toAgent: string, payload: object = CODE) =>
    as({ action: "create", storyId, fromAgent, toAgent, payload });
  for (const reply of await Promise.all([
    create(other, "implementer", "reviewer"),
    create("v9:9.9.9", "implementer", "reviewer"),
    create(story, "analyst", "implementer"),
    create(story, "reviewer", "refactorer"),
    create(story, "orchestrator", "analyst"),
    as({ action: "accept", handoffId: theirs.id }),
    as({ action: "reject", handoffId: theirs.id, reason: "x" }),
    as({ action: "reject", handoffId: 999_999, reason: "x" }),
    as({ action: "timeout", handoffId: row?.id }),
    as({ action: "cleanup", storyId: story }),
    as({ action: "stop" }, "/api/run"),
    as({ storyId: other, action: "blocked" }, "/api/signal"),
    as({ verdict: "approved" }, `/api/runs/${await world.runOf(other)}/verdict`),
    world.served.call("GET", `/api/handoffs?storyId=${other}`, { token }),
    world.served.call("GET", "/api/handoffs?stale=true", { token }),
    world.served.call("GET", "/api/work", { token }),
  ]))
    expect(reply).toMatchObject({ status: 403, body: { code: "scope_missing" } });
  // Nobody else speaks for a program that Passrail has started.
  for (const reply of [
    await world.create(story, "implementer", "reviewer", CODE),
    await world.post({ action: "reject", handoffId: row?.id, reason: "x" }),
  ])
    expect(reply).toMatchObject({ status: 409, body: { code: "played_by_program" } });
  expect(await create(story, "implementer", "reviewer", { ...CODE, build_passes: false })).toMatchObject({
    status: 422,
    body: { code: "payload_refused" },
  });
  expect(await seq()).toBe(before);
  expect((await world.served.call("GET", `/api/handoffs?storyId=${story}`, { token })).body).toMatchObject({
    currentAgent: "implementer",
  });
  const made = await create(story, "implementer", "reviewer");
  expect(made).toMatchObject({ status: 200, body: { handoff: { to_agent: "reviewer", payload: CODE } } });
  // The token has ended with the attempt.
  expect((await create(story, "implementer", "reviewer")).status).toBe(401);
  writeFileSync(hold, "");
  expect(await world.state(story)).toMatchObject({ currentAgent: "reviewer" });
  const events = await world.served.bench.events(await world.runOf(story));
  expect(events.filter(({ type }) => type === "stage.finished").map(({ actor }) => actor)).toEqual([
    "human:tester",
    "agent:implementer",
  ]);
});

test("R-003-27: of fifty accepts, rejects and timeouts of one handoff at once one wins; also when all try again after a restart", async () => {
  const story = await world.newStory();
  const row = await world.leadTo(story, "reviewer");
  const before = (await world.served.bench.events(await world.runOf(story))).length;
  const wishes = [
    { action: "accept", handoffId: row.id },
    { action: "reject", handoffId: row.id, reason: "no" },
    { action: "timeout", handoffId: row.id },
  ];
  const all = () =>
    Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        world.post(wishes[index % 3], { headers: { "idempotency-key": `racer-${index}` } }),
      ),
    );
  const replies = await all();
  const won = replies.filter(({ status }) => status === 200);
  // Who accepted may still be rejected: that is one more move, not a second winner.
  const accepted = won.filter(({ body }) => rowOf({ body } as never).status === "accepted");
  expect(accepted.length).toBeLessThanOrEqual(1);
  expect(won).toHaveLength(accepted.length + 1);
  const lost = replies.filter(({ status }) => status === 409);
  expect(lost).toHaveLength(50 - won.length);
  for (const { body } of lost) expect(body).toMatchObject({ code: "handoff_not_open", handoff: { id: row.id } });
  const events = await world.served.bench.events(await world.runOf(story));
  expect(events.slice(before).filter(({ type }) => type === "signal.ignored")).toEqual([]);
  const atEnd = await seq();
  world.restart();
  const again = await all();
  expect(again.map(({ status }) => status)).toEqual(replies.map(({ status }) => status));
  expect(await seq()).toBe(atEnd);
});

test("R-003-27: of fifty accepts at once exactly one wins", async () => {
  const story = await world.newStory();
  const [row] = (await world.state(story)).handoffs;
  const replies = await Promise.all(
    Array.from({ length: 50 }, () => world.post({ action: "accept", handoffId: row?.id })),
  );
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
  const events = await world.served.bench.events(await world.runOf(story));
  expect(events.filter(({ type }) => type === "handoff.accepted")).toHaveLength(1);
});

test("the same key hands over once, also after a restart, and belongs to one request", async () => {
  const story = await world.newStory();
  const wish = { action: "create", storyId: story, fromAgent: "analyst", toAgent: "implementer", payload: PLAN };
  const send = (body: object) => world.post(body, { headers: { "idempotency-key": "once" } });
  const first = await send(wish);
  expect((await send(wish)).body).toEqual(first.body);
  expect(await send({ ...wish, payload: {} })).toMatchObject({ status: 422, body: { code: "idempotency_key_reused" } });
  world.restart();
  expect((await send(wish)).body).toEqual(first.body);
  expect((await world.state(story)).handoffs).toHaveLength(2);
});

test("R-003-41: every change is told as a handoff with story, id and status; a reject as two, a clean-up as one per row", async () => {
  const story = await world.newStory();
  const told: string[] = [];
  const from = await seq();
  const collect = async () => {
    told.length = 0;
    const opened = await world.served.deps.events.subscribe({
      after: { seq: from, half: false },
      filter: { subjectId: story, kinds: ["handoff"] },
      onCut: () => {},
    });
    if (!opened.ok) throw new Error(opened.error.message);
    const { value: stream } = opened;
    // What is told ends with the last row that this story has.
    const rows = (await world.state(story)).handoffs;
    const end = `"handoffId":${rows.at(-1)?.id},"status":"${rows.at(-1)?.status}"`;
    let text = "";
    while (!text.includes(end)) text += Buffer.from((await stream.next()) ?? []).toString();
    stream.close();
    for (const [, data = ""] of text.matchAll(/^event: handoff\ndata: (.*)$/gmu)) {
      const { storyId, handoffId, status } = JSON.parse(data) as Record<string, unknown>;
      const at = rows.findIndex(({ id }) => id === handoffId);
      told.push(`${String(storyId) === story ? at : "?"} ${String(status)}`);
    }
    return told;
  };
  const first = await world.leadTo(story, "implementer");
  await world.post({ action: "accept", handoffId: first.id });
  await world.create(story, "implementer", "reviewer", CODE);
  const row = await world.leadTo(story, "reviewer");
  await world.post({ action: "reject", handoffId: row.id, reason: "no" });
  await world.post({ action: "cleanup", storyId: story });
  await world.create(story, "reviewer", "implementer", REVIEW);
  const back = (await world.state(story)).handoffs.at(-1);
  await world.post({ action: "timeout", handoffId: back?.id });
  expect(await collect()).toEqual([
    "0 accepted",
    "1 pending",
    "1 accepted",
    "2 pending",
    "2 rejected",
    "3 pending",
    "3 rejected",
    "4 pending",
    "4 rejected",
  ]);
});
