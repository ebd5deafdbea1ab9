// The same request twice is one request, also when many send it at once, also after a restart; different ones meet and one of them wins.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { pathOf, type ApiRoute } from "../../../src/http/contract/route.ts";
import { ROUTES } from "../../../src/http/contract/routes.ts";
import { createApp } from "../../../src/http/server/app.ts";
import { type Served, serve } from "./served.ts";

let served: Served;
beforeEach(async () => {
  served = await serve();
  served.play({});
});
afterEach(() => served.close());

const start = (title: string, key: string) =>
  served.call("POST", "/api/runs", { body: { flow: "feature", title }, headers: { "idempotency-key": key } });
const idOf = (reply: { body: unknown }) => ROUTES.startRun.answer.schema.parse(reply.body).run.id;

test("25: the same key starts one run; with another body it is refused", async () => {
  const replies = await Promise.all(Array.from({ length: 20 }, () => start("Once", "key-1")));
  expect(new Set(replies.map(idOf)).size).toBe(1);
  expect((await served.call("GET", "/api/runs")).body["runs"]).toHaveLength(1);
  const before = await served.seq();
  expect(await start("Twice", "key-1")).toMatchObject({ status: 422, body: { code: "idempotency_key_reused" } });
  expect(await served.seq()).toBe(before);
  expect(idOf(await start("Twice", "key-2"))).not.toBe(idOf(await start("Once", "key-1")));
  for (const key of ["", " ", "x".repeat(201), "ü"]) expect((await start("Once", key)).status).toBe(400);
});

test("a key outlives the daemon: the app after a restart finds the run of the first time", async () => {
  const first = idOf(await start("Once", "key-1"));
  served.app = createApp(served.deps, { port: 4321 });
  const second = await start("Once", "key-1");
  expect(second.status).toBe(201);
  expect(idOf(second)).toBe(first);
  expect(await start("Other", "key-1")).toMatchObject({ status: 422, body: { code: "idempotency_key_reused" } });
});

test("R-000-23: fifty answers to one gate at once: one counts, its equals change nothing, the others hear how it ended", async () => {
  const { id } = await served.bench.run("feature", {});
  const answerAll = () =>
    Promise.all(
      Array.from({ length: 50 }, (_, index) =>
        served.call("POST", `/api/inbox/${id}.1/answer`, {
          body: index % 2 === 0 ? { answer: "approve" } : { answer: "reject", text: "no" },
          headers: { "if-match": "*", "idempotency-key": `caller-${index}` },
        }),
      ),
    );
  const answers = await answerAll();
  const won = answers.filter(({ status, body }) => status === 200 && body["decided"] === undefined);
  expect(won).toHaveLength(1);
  const decided = { answer: won[0]?.body["answer"], by: "human:tester" };
  const equal = answers.filter(({ status, body }) => status === 200 && body["decided"] !== undefined);
  expect(equal).toHaveLength(24);
  for (const { body } of equal) expect(body).toMatchObject({ answer: decided.answer, decided });
  const others = answers.filter(({ body }) => body["code"] === "gate_not_waiting");
  expect(others).toHaveLength(25);
  for (const { body } of others) expect(body).toMatchObject({ decided });
  const answered = (await served.bench.events(id)).filter(({ type }) => type === "gate.answered");
  expect(answered).toMatchObject([{ answer: decided.answer, actor: "human:tester" }]);

  // Everybody tries again, twice, each time after a restart: each gets the same status again, and nothing happens.
  await served.bench.passrail.engine.idle();
  const before = await served.seq();
  for (let restart = 0; restart < 2; restart++) {
    served.app = createApp(served.deps, { port: 4321 });
    const retried = await answerAll();
    expect(retried.map(({ status }) => status)).toEqual(answers.map(({ status }) => status));
  }
  expect(await served.seq()).toBe(before);
});

test("a run is taken in hand: pause, resume, cancel, each once", async () => {
  const { id } = await served.bench.run("feature", {});
  const act = (verb: string, body: object) => served.call("POST", `/api/runs/${id}/${verb}`, { body });
  expect(await act("pause", { reason: "lunch" })).toMatchObject({ status: 200, body: { changed: true } });
  expect(await act("pause", {})).toMatchObject({ status: 200, body: { changed: false } });
  expect(await act("resume", {})).toMatchObject({ status: 200, body: { changed: true } });
  expect(await act("skip", { reason: " " })).toMatchObject({ status: 422, body: { code: "reason_required" } });
  expect(await act("retry", { stage: "nowhere" })).toMatchObject({ status: 409, body: { code: "action_refused" } });
  const before = await served.seq();
  const keyed = (body: object) =>
    served.call("POST", `/api/runs/${id}/retry`, { body, headers: { "idempotency-key": "again" } });
  for (let again = 0; again < 2; again++)
    expect(await keyed({ stage: "nowhere" })).toMatchObject({ status: 409, body: { code: "action_refused" } });
  expect(await served.seq()).toBe(before);
  expect(await act("cancel", { reason: "enough" })).toMatchObject({
    status: 200,
    body: { run: { status: "canceled" } },
  });
  expect(await act("cancel", {})).toMatchObject({ status: 200, body: { changed: false } });
  expect(await act("retry", {})).toMatchObject({ status: 409, body: { code: "run_ended" } });
  const canceled = (await served.bench.events(id)).filter(({ type }) => type === "run.canceled");
  expect(canceled).toMatchObject([{ reason: "enough", actor: "human:tester" }]);
});

/** A well-formed body of every route that changes something and takes one. A new route without an entry fails the test below. */
const BODIES: Readonly<Partial<Record<keyof typeof ROUTES, object>>> = {
  actOnHandoff: { action: "cleanup", storyId: "v0.1:1.1.1" },
  addProject: { folder: "/tmp" },
  answerItem: { answer: "approve" },
  cancelRun: {},
  chooseTicket: {},
  confirmMerge: {},
  createKey: { name: "ci", kind: "viewer" },
  createLoginCode: {},
  createSession: {},
  createTicket: { title: "A new one" },
  discardRun: {},
  editTicket: { title: "Another" },
  enableEndpoint: {},
  liftHold: { runner: "claude" },
  mergeRun: {},
  pauseRun: {},
  redeliver: {},
  rerunFrom: { stage: "spec" },
  resumeRun: {},
  retryStage: {},
  runStory: { action: "start", storyId: "v0.1:1.1.1" },
  signalStory: { action: "progress", storyId: "v0.1:1.1.1" },
  skipStage: { reason: "not needed" },
  snoozeEntry: { id: "r0a1b2c3d4e.1", until: "2999-01-01T00:00:00Z" },
  stopRun: {},
  changeBudget: { usd: 40 },
  editSetting: { scope: "user", name: "budgets.day.usd", value: 40 },
  pauseAll: {},
  resumeAll: {},
  steerWorker: { state: "cordoned" },
  steerRun: { text: "Use the new API" },
  markViewed: { path: "a.ts", version: "0".repeat(40), isViewed: true },
  takeoverRun: {},
  handbackRun: {},
  startDemo: {},
  approveTrust: { hash: "0".repeat(64) },
  revokeTrust: { hash: "0".repeat(64) },
  undoLanding: {},
  startRun: { flow: "feature", title: "Once" },
  startTicket: {},
  startWork: {},
  submitVerdict: { stage: "spec", attempt: 1, verdict: "APPROVED" },
  testEndpoint: {},
};
const MUTATING = (Object.keys(ROUTES) as (keyof typeof ROUTES)[]).filter(
  // MCP carries calls; each is a request of its own under a key that is derived from the call's. A preview stores nothing. A worker's messages
  // are numbered, and its claim is named.
  (name) => ROUTES[name].method !== "get" && ROUTES[name].scope !== "claim" && name !== "mcp" && name !== "previewRun",
);

test.each(MUTATING)(
  "R-X-12: %s honours the key: under one that another request has, nothing is carried out",
  async (name) => {
    const route: ApiRoute = ROUTES[name];
    const { id } = await served.bench.run("feature", {});
    const { store } = served.deps;
    const code = name === "createSession" ? served.keys.newLoginCode().token : undefined;
    const caller = code === undefined ? "operator" : (served.keys.findLogin(code) as { id: string }).id;
    const at = new Date().toISOString();
    await store.claimRequest({ caller, key: "taken", request: "another request", at, forgetBefore: at });
    const params = {
      run: id,
      item: `${id}.1`,
      stage: "spec",
      ticket: "F-1",
      story: "v0.1:1.1.1",
      key: "k00000000",
      delivery: "msg_0000000000",
      endpoint: "team",
      worker: "box",
      name: "titles",
    };
    const before = await served.seq();
    const reply = await served.call(route.method.toUpperCase(), pathOf(route.path, params), {
      ...(code === undefined ? {} : { token: code }),
      ...(route.body === undefined ? {} : { body: BODIES[name] ?? { missing: name } }),
      headers: { "idempotency-key": "taken", "if-match": "*" },
    });
    expect({ name, status: reply.status, code: reply.body["code"] }).toEqual({
      name,
      status: 422,
      code: "idempotency_key_reused",
    });
    expect(await served.seq()).toBe(before);
  },
);

/** The routes that succeed here; those that need a landing, an endpoint or an outside attempt are refused without an effect. */
const SUCCEED: readonly (keyof typeof ROUTES)[] = [
  "startRun",
  "answerItem",
  "pauseRun",
  "resumeRun",
  "cancelRun",
  "createTicket",
  "editTicket",
  "startTicket",
  "addProject",
  "runStory",
  "snoozeEntry",
  "changeBudget",
  "editSetting",
  "pauseAll",
  "resumeAll",
];

test("R-X-12: every route that changes something answers a repeat as the first time, also after a restart, and does it once", async () => {
  const succeeded: string[] = [];
  for (const name of MUTATING) {
    const route: ApiRoute = ROUTES[name];
    // Secrets are below. The demo is a start like the others, with a minute of work behind it.
    if (route.repeat === "secret" || name === "startDemo") continue;
    const needsRun = /\{(?:run|item)\}/u.test(route.path);
    const { id } = needsRun ? await served.bench.run("feature", {}, { subject: `S-${name}` }) : { id: "r0000000000" };
    if (name === "resumeRun") await served.call("POST", `/api/runs/${id}/pause`, { body: {} });
    const body = name === "addProject" ? { folder: served.bench.project } : BODIES[name];
    const params = { run: id, item: `${id}.1`, stage: "start", ticket: "AGI-1", story: "v0.1:1.1.1", name: "titles" };
    const more = { key: "k00000000", delivery: "msg_0000000000", endpoint: "team" };
    const send = (sent: object | undefined) =>
      served.call(route.method.toUpperCase(), pathOf(route.path, { ...params, ...more }), {
        ...(route.body === undefined ? {} : { body: sent }),
        headers: { "idempotency-key": `once-${name}`, "if-match": "*" },
      });
    const first = await send(body);
    await served.bench.passrail.engine.idle();
    const before = await served.seq();
    const second = await send(body);
    served.app = createApp(served.deps, { port: 4321 });
    const third = await send(body);
    if (first.status < 300) succeeded.push(name);
    expect([name, second.status, second.body]).toEqual([name, first.status, withoutRequest(second, first)]);
    expect([name, third.status, third.body]).toEqual([name, first.status, withoutRequest(third, first)]);
    expect([name, await served.seq()]).toEqual([name, before]);
  }
  expect(succeeded).toEqual(expect.arrayContaining([...SUCCEED]));
});

/** A refusal names its request, which is another one each time. */
function withoutRequest(reply: { body: Record<string, unknown> }, first: { body: Record<string, unknown> }): object {
  const { instance: _first, requestId: _id, ...rest } = first.body;
  const { instance, requestId } = reply.body;
  return {
    ...rest,
    ...(instance === undefined ? {} : { instance }),
    ...(requestId === undefined ? {} : { requestId }),
  };
}

test("R-X-12: a key that answers a secret is made once; its repeat is refused and the secret is not in the store", async () => {
  const make = () =>
    served.call("POST", "/api/keys", { body: { name: "ci", kind: "viewer" }, headers: { "idempotency-key": "once" } });
  const made = await make();
  expect(made.status).toBe(201);
  const spent = {
    status: 409,
    body: { code: "idempotency_key_spent", detail: expect.stringContaining(String(made.body["id"])) },
  };
  expect(await make()).toMatchObject(spent);
  served.app = createApp(served.deps, { port: 4321 });
  expect(await make()).toMatchObject(spent);
  expect(served.keys.list()).toHaveLength(1);
  for (const file of readdirSync(served.bench.home))
    if (file.startsWith("passrail.db"))
      expect(readFileSync(join(served.bench.home, file)).includes(String(made.body["token"]))).toBe(false);
});

test("R-X-12: revoking a key twice under one Idempotency-Key is answered alike, also after a restart", async () => {
  const { id } = await served.keys.create({ name: "short", kind: "viewer" });
  const revoke = () => served.call("DELETE", `/api/keys/${id}`, { headers: { "idempotency-key": "gone" } });
  const first = await revoke();
  expect(first).toMatchObject({ status: 200, body: { id, revoked: true } });
  served.app = createApp(served.deps, { port: 4321 });
  expect((await revoke()).body).toEqual(first.body);
  expect(await served.call("DELETE", `/api/keys/${id}`)).toMatchObject({ status: 404 });
});

test("R-000-23: a second approve is a no-op, another answer to a closed gate is 409 with the current status, and what is unknown is 404", async () => {
  const { id } = await served.bench.run("feature", {});
  const answer = (item: string, body: object) =>
    served.call("POST", `/api/inbox/${item}/answer`, { body, headers: { "if-match": "*" } });
  expect(await answer(`${id}.1`, { answer: "approve" })).toMatchObject({ status: 200 });
  await served.bench.passrail.engine.idle();
  const before = await served.seq();
  expect(await answer(`${id}.1`, { answer: "approve" })).toMatchObject({
    status: 200,
    body: { answer: "approve", decided: { answer: "approve", by: "human:tester" } },
  });
  const { status, word } = await served.bench.load(id);
  expect(await answer(`${id}.1`, { answer: "reject", text: "no" })).toMatchObject({
    status: 409,
    body: {
      code: "gate_not_waiting",
      detail: expect.stringContaining(`The run is ${status} (${word}).`),
      decided: { answer: "approve" },
    },
  });
  expect(await answer(`${id}.99`, { answer: "approve" })).toMatchObject({
    status: 404,
    body: { code: "item_not_found" },
  });
  expect(await answer("r0000000000.1", { answer: "approve" })).toMatchObject({
    status: 404,
    body: { code: "run_not_found" },
  });
  expect(await served.seq()).toBe(before);
});
