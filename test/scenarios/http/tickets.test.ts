// Tickets, workers, keys over HTTP and going back: what else can be asked of the server.

import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../../harness/until.ts";
import { type Served, serve } from "./served.ts";

let served: Served;
beforeAll(async () => {
  served = await serve();
});
afterAll(() => served.close());

const say = (verdict: string, issues: readonly string[] = []) => ({ via: "json-tail", verdict, issues });
const script = {
  spec: [say("APPROVED")],
  design: [say("APPROVED")],
  build: [say("COMPLETE")],
  qa: [say("REVISE", ["too slow"]), say("SHIP")],
};
type Row = { id: string; [key: string]: unknown };

test("R-000-31, R-000-34: a ticket shows status, revision_count, current_agent and pipeline_log of its newest run", async () => {
  const first = await served.bench.run("feature", script, { subject: "v0.1:1.2", title: "Export" });
  await served.bench.answer(first, "gate", "reject");
  const second = await served.bench.run("feature", script, { subject: "v0.1:1.2", title: "Export" });
  await served.bench.answer(second, "gate", "approve");
  const { status, body } = await served.call("GET", `/api/tickets/${encodeURIComponent("v0.1:1.2")}`);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    id: "v0.1:1.2",
    title: "Export",
    runs: 2,
    newest: { id: second.id },
    flow: "feature",
    status: "waiting",
    word: "review",
    agent: null,
    loops: 1,
    cost: { usd: 0, unknownUsd: 0 },
    feature: { status: "review", revision_count: 1, current_agent: null },
    history: [{ id: second.id }, { id: first.id, status: "canceled" }],
  });
  const log = (body["feature"] as { pipeline_log: { verdict: string }[] }).pipeline_log;
  expect(log.map(({ verdict }) => verdict)).toEqual(expect.arrayContaining(["APPROVED", "REVISE", "SHIP"]));
});

test("tickets are listed once each, by their newest run, page by page", async () => {
  for (const subject of ["A-1", "A-2", "A-3", "A-1"]) await served.bench.run("feature", {}, { subject });
  const ids: string[] = [];
  let query = "?limit=2";
  for (let pages = 0; pages < 10; pages++) {
    const { body } = await served.call("GET", `/api/tickets${query}`);
    ids.push(...(body["tickets"] as Row[]).map(({ id }) => id));
    if (body["next"] === null) break;
    query = `?limit=2&before=${body["next"] as string}`;
  }
  expect(ids).toEqual(["A-1", "A-3", "A-2", "v0.1:1.2"]);
});

test("a ticket that nobody knows is not looked for in files", async () => {
  for (const [path, code, status] of [
    ["..%2f..%2fetc%2fpasswd", "ticket_not_found", 404],
    ["%zz", "bad_request_path", 400],
    ["a%20b", "invalid_id", 400],
    ["x".repeat(201), "invalid_id", 400],
    ["A-9", "ticket_not_found", 404],
  ] as const)
    expect(await served.call("GET", `/api/tickets/${path}`)).toMatchObject({ status, body: { code } });
  expect(await served.call("GET", "/api/tickets?limit=0")).toMatchObject({ body: { code: "invalid_query" } });
  expect(await served.call("GET", "/api/tickets?before=x")).toMatchObject({ body: { code: "invalid_cursor" } });
});

test("a person goes back to an earlier stage, with a note for it; the same wish twice is carried out once", async () => {
  const passing = { ...script, qa: [say("SHIP")] };
  const run = await served.bench.run("feature", passing, { subject: "B-1" });
  await served.bench.answer(run, "gate", "approve");
  const key = { "idempotency-key": "back-1" };
  const wish = { body: { stage: "build", note: "use the cache" }, headers: key };
  const back = await served.call("POST", `/api/runs/${run.id}/rerun`, wish);
  expect(back).toMatchObject({ status: 200, body: { changed: true, run: { status: "running" } } });
  await served.bench.passrail.engine.idle();
  expect(await served.call("POST", `/api/runs/${run.id}/rerun`, wish)).toMatchObject({ status: 200 });
  const events = await served.bench.events(run.id);
  const builds = events.flatMap((event) => (event.type === "stage.ready" && event.stage === "build" ? [event] : []));
  expect(builds.map(({ attempt, carry }) => [attempt, carry.said])).toEqual([
    [1, undefined],
    [2, "use the cache"],
  ]);
  // The gate that was open is asked again.
  const { body } = await served.call("GET", `/api/runs/${run.id}`);
  expect(body["items"]).toMatchObject([{ kind: "gate", number: 3 }]);
  for (const [stage, code] of [
    ["final", "action_refused"],
    ["nowhere", "action_refused"],
  ])
    expect(await served.call("POST", `/api/runs/${run.id}/rerun`, { body: { stage } })).toMatchObject({
      status: 409,
      body: { code },
    });
  expect(await served.call("POST", `/api/runs/${run.id}/rerun`, { body: {} })).toMatchObject({ status: 422 });
  expect(await served.bench.passrail.store.verify()).toEqual([]);
});

test("a worker tells its slots and what runs where since when", async () => {
  expect((await served.call("GET", "/api/workers")).body).toMatchObject({ workers: [{ attempts: [] }] });
  const hold = `${served.bench.dir}/go`;
  const run = await served.bench.run("feature", { spec: [{ ...say("APPROVED"), hold }] }, { subject: "W-1" });
  const answered = served.bench.answer(run, "gate", "approve");
  const found = await until("an attempt at work", async () => {
    const { body } = await served.call("GET", "/api/workers");
    const [worker] = body["workers"] as { attempts: unknown[] }[];
    return (worker?.attempts.length ?? 0) > 0 ? worker : undefined;
  });
  expect(found).toMatchObject({
    name: "local",
    pid: process.pid,
    version: "0.0.0-test",
    slots: 3,
    startedAt: expect.stringMatching(/Z$/) as string,
    attempts: [{ runId: run.id, stage: "spec", attempt: 1, agent: "IN1" }],
  });
  await served.call("POST", `/api/runs/${run.id}/cancel`, { body: {} });
  await answered;
});

test("S05: keys are made, listed and revoked over HTTP; a token is shown once", async () => {
  const made = await served.call("POST", "/api/keys", { body: { name: "wall", kind: "viewer", note: "in the hall" } });
  expect(made.status).toBe(201);
  const { token, ...shown } = made.body as { token: string; id: string };
  expect(shown).toMatchObject({ name: "wall", kind: "viewer", note: "in the hall" });
  expect(await served.call("GET", "/api/whoami", { token })).toMatchObject({
    body: { kind: "viewer", id: shown.id, scopes: ["read", "own-run", "find-work"], isSession: false },
  });
  const list = await served.call("GET", "/api/keys");
  expect(list.body["keys"]).toContainEqual(shown);
  expect(JSON.stringify(list.body)).not.toContain(token.slice(6));
  expect(await served.call("DELETE", `/api/keys/${shown.id}`)).toMatchObject({ status: 200, body: { revoked: true } });
  expect((await served.call("GET", "/api/whoami", { token })).status).toBe(401);
  expect(await served.call("DELETE", `/api/keys/${shown.id}`)).toMatchObject({ body: { code: "key_not_found" } });
  for (const [body, pointer] of [
    [{ name: "../x", kind: "viewer" }, "/name"],
    [{ name: "x".repeat(49), kind: "viewer" }, "/name"],
    [{ name: "a", kind: "attempt" }, "/kind"],
    [{ name: "a", kind: "viewer", note: "x".repeat(201) }, "/note"],
    [{ name: "a", kind: "viewer", note: "two\nlines" }, "/note"],
  ] as const)
    expect(await served.call("POST", "/api/keys", { body })).toMatchObject({ status: 422, body: { pointer } });
});

test("S04: logging out ends the session and no other", async () => {
  const login = async () => {
    const code = String((await served.call("POST", "/api/login-codes", { body: {} })).body["code"]);
    return String((await served.call("POST", "/api/sessions", { body: {}, token: code })).body["token"]);
  };
  const [one, other] = [await login(), await login()];
  expect((await served.call("GET", "/api/whoami", { token: one })).body).toMatchObject({ isSession: true });
  expect((await served.call("DELETE", "/api/sessions/current", { token: one })).status).toBe(200);
  expect((await served.call("GET", "/api/whoami", { token: one })).status).toBe(401);
  expect((await served.call("GET", "/api/whoami", { token: other })).status).toBe(200);
  expect(await served.call("DELETE", "/api/sessions/current")).toMatchObject({
    status: 404,
    body: { code: "session_not_found" },
  });
});
