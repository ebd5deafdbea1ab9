// The bad inputs of the security catalogue, as far as they concern these routes. Each has its stated code, says where the fault is, shows
// no stack, and changes nothing.

import { afterAll, beforeAll, expect, test } from "vitest";
import { problemSchema } from "../../../src/http/contract/problem.ts";
import { createApp } from "../../../src/http/server/app.ts";
import { type CallOptions, type Served, serve } from "./served.ts";

let served: Served;
let runId: string;
beforeAll(async () => {
  served = await serve();
  served.play({});
  runId = (await served.bench.run("feature", {})).id;
});
afterAll(() => served.close());

async function refused(method: string, path: string, options: CallOptions, status: number, code: string) {
  const before = await served.seq();
  const reply = await served.call(method, path, options);
  expect({ path, status: reply.status, code: reply.body["code"] }).toEqual({ path, status, code });
  expect(reply.headers.get("content-type")).toContain("application/problem+json");
  const problem = problemSchema.parse(reply.body);
  expect(JSON.stringify(problem)).not.toMatch(/node_modules|\.ts:\d|at async/);
  expect(problem.requestId).toBe(reply.headers.get("x-request-id"));
  expect(await served.seq()).toBe(before);
  return problem;
}

const start = (fields: Record<string, unknown>) => ({ body: { flow: "feature", title: "x", ...fields } });

test("1, 2: without a token, or with one that is nearly right", async () => {
  await refused("GET", "/api/runs", { token: null }, 401, "auth_required");
  for (const authorization of [
    "Bearer",
    "Bearer ",
    "bearer null",
    `Basic ${served.operator}`,
    `Bearer ${served.operator}x`,
  ])
    await refused("GET", "/api/runs", { token: null, headers: { authorization } }, 401, "auth_invalid");
});

test("3, 4, 5: another Host, another Origin, no Origin at all, a foreign page, all with a valid token", async () => {
  await refused("GET", "/api/runs", { headers: { host: "evil.example" } }, 403, "host_not_allowed");
  for (const origin of [
    "http://evil.example",
    "null",
    "http://127.0.0.1:1",
    "https://127.0.0.1:4321",
    "http://localhost:4321.evil.example",
  ])
    await refused("GET", "/api/runs", { headers: { origin } }, 403, "origin_not_allowed");
  for (const site of ["cross-site", "same-site"])
    await refused("GET", "/api/runs", { headers: { "sec-fetch-site": site } }, 403, "origin_not_allowed");
  await refused(
    "POST",
    "/api/runs",
    { ...start({}), headers: { "sec-fetch-site": "none" } },
    403,
    "origin_not_allowed",
  );
  const own = { origin: "http://localhost:4321", "sec-fetch-site": "same-origin" };
  expect((await served.call("GET", "/api/runs", { headers: own })).status).toBe(200);
});

test("6: a body that is JSON under another name", async () => {
  const types = [
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "Application/JSON;x",
    "application/json; charset=latin1",
    "application/json, text/plain",
    "",
  ];
  for (const type of types)
    await refused(
      "POST",
      "/api/runs",
      { ...start({}), headers: { "content-type": type } },
      415,
      "unsupported_media_type",
    );
  await refused(
    "POST",
    "/api/runs",
    { ...start({}), headers: { "content-encoding": "gzip" } },
    415,
    "unsupported_media_type",
  );
  const spelt = { ...start({ titel: 1 }), headers: { "content-type": 'APPLICATION/JSON\t; charset="UTF-8"' } };
  await refused("POST", "/api/runs", spelt, 422, "unknown_field");
});

test("7, 8: a body that is no JSON, or no object", async () => {
  const problem = await refused("POST", "/api/runs", { body: "{" }, 400, "invalid_json");
  expect(problem.detail).toContain("line 1, column 2");
  for (const body of ["[]", '"x"', "null", "1", "", "  "])
    await refused("POST", "/api/runs", { body }, 400, "body_must_be_object");
  for (const body of [
    '{"flow":"feature","flow":"story","title":"x"}',
    '{"__proto__":{}}',
    "[".repeat(5000),
    '{"a":"\u0001"}',
    "{} {}",
  ])
    await refused("POST", "/api/runs", { body }, 400, "invalid_json");
});

test("9: a body of one byte too many", async () => {
  const body = `{"flow":"feature","title":"${"x".repeat(1024 * 1024)}"}`;
  const problem = await refused("POST", "/api/runs", { body }, 413, "body_too_large");
  expect(problem.detail).toContain("1048576");
});

test("11: a field that is not known, with the one that was meant", async () => {
  const problem = await refused("POST", "/api/runs", start({ titel: "b" }), 422, "unknown_field");
  expect(problem).toMatchObject({ pointer: "/titel", hint: 'Did you mean "title"?' });
});

test("12: titles that are none", async () => {
  for (const title of ["", "x".repeat(201), "   ", "a\tb", "a\u007fb", 7, null])
    expect((await refused("POST", "/api/runs", start({ title }), 422, "invalid_title")).pointer).toBe("/title");
  await refused("POST", "/api/runs", { body: { flow: "feature" } }, 422, "invalid_title");
  await refused("POST", "/api/runs", { body: '{"flow":"feature","title":"a\\u0000"}' }, 400, "invalid_json");
});

test("13, 15, 24: ids that are none", async () => {
  const ids = [
    "..%2f..%2fetc%2fpasswd",
    "%2e%2e",
    "AGI-0",
    "AGI-01",
    "agi-1",
    "AGI-99999999999",
    "0",
    "01",
    "-1",
    "1.5",
    "9007199254740993",
    "1%20OR%201=1",
    "R0a1b2c3d4e",
    "r0a1b2c3d4e%00",
    "con",
    "~root",
    "..%5c..%5cx",
  ];
  for (const id of ids) {
    // A NUL, and a dot segment that a URL parser resolves, do not even become an id.
    const [status, code] = id.includes("%00")
      ? [400, "bad_request_path"]
      : id === "%2e%2e"
        ? [404, "route_not_found"]
        : [400, "invalid_id"];
    await refused("GET", `/api/runs/${id}`, {}, status, code);
  }
  for (const item of [
    runId,
    `${runId}.0`,
    `${runId}.01`,
    `${runId}.1.1`,
    `${runId}.x`,
    "1 OR 1=1",
    `${runId}.9007199254740993`,
  ])
    await refused("GET", `/api/inbox/${encodeURIComponent(item)}`, {}, 400, "invalid_id");
  for (const place of [
    "sp%2e%2e/1/prompt",
    "spec/0/prompt",
    "spec/1.5/prompt",
    "spec/1/passwd",
    "..%2f..%2fx/1/prompt",
    "spec/1/..%2f..%2fpassrail.db",
  ])
    await refused("GET", `/api/runs/${runId}/attempts/${place}`, {}, 400, "invalid_id");
  await refused("GET", "/api/runs/r0000000000", {}, 404, "run_not_found");
  await refused("GET", `/api/runs/${runId}/attempts/spec/99/prompt`, {}, 404, "attempt_not_found");
  await refused("GET", `/api/inbox/${runId}.9`, {}, 404, "item_not_found");
});

test("14: a path that cannot be decoded", async () => {
  for (const path of ["/api/runs/%zz", "/api/runs/%", "/api/runs/%c0%af"])
    await refused("GET", path, {}, 400, "bad_request_path");
});

test("16, 17, 18: queries out of range, twice, unknown", async () => {
  for (const query of ["limit=-1", "limit=0", "limit=1e9", "limit=abc", "limit=201", "limit=", "limit=%201"])
    expect((await refused("GET", `/api/runs?${query}`, {}, 400, "invalid_query")).detail).toContain("1 to 200");
  await refused("GET", "/api/runs?limit=1&limit=2", {}, 400, "invalid_query");
  await refused("GET", "/api/runs?stale=true&minutes=-5", {}, 400, "invalid_query");
  await refused("GET", "/api/inbox?limit=1", {}, 400, "invalid_query");
  for (const query of ["before=garbage", "before=-5", "before=NaN", "before=1e308", "before=0"])
    await refused("GET", `/api/runs?${query}`, {}, 400, "invalid_cursor");
  await refused("GET", `/api/runs/${runId}/events?after=abc`, {}, 400, "invalid_cursor");
  for (const query of ["by=soul", "since=yesterday", "run=x"])
    await refused("GET", `/api/cost?${query}`, {}, 400, "invalid_query");
});

test("26, 27: a gate's answer is bound to what was seen, and a gate is answered once", async () => {
  const path = `/api/inbox/${runId}.1/answer`;
  const approve = { body: { answer: "approve" } };
  await refused("POST", path, approve, 428, "version_required");
  await refused("POST", path, { ...approve, headers: { "if-match": "3" } }, 400, "invalid_version");
  const { version } = (await served.call("GET", `/api/inbox/${runId}.1`)).body as { version: string };
  for (const stale of ["1", "999999", "abc", `${version}-0000`]) {
    const problem = await refused(
      "POST",
      path,
      { ...approve, headers: { "if-match": `"${stale}"` } },
      412,
      "version_mismatch",
    );
    expect(problem.current).toBe(version);
  }
  const problem = await refused("POST", path, { ...approve, headers: { "if-match": '"1"' } }, 412, "version_mismatch");
  expect(problem.changed?.map(({ type }) => type)).toContain("gate.opened");
  served.commit = "c".repeat(40);
  const moved = await refused(
    "POST",
    path,
    { ...approve, headers: { "if-match": `"${version}"` } },
    412,
    "version_mismatch",
  );
  expect(moved.changed).toMatchObject([{ type: "commit.moved" }]);
  served.commit = null;

  const any = { "if-match": "*" };
  await refused("POST", path, { body: { answer: "explode" }, headers: any }, 422, "answer_unknown");
  await refused("POST", path, { body: { answer: "reject" }, headers: any }, 422, "reason_required");
  await refused(
    "POST",
    path,
    { body: { answer: "reject", text: "x".repeat(10_001) }, headers: any },
    422,
    "reason_too_long",
  );
  const said = await served.call("POST", path, { body: { answer: "reject", text: "not now" }, headers: any });
  expect(said).toMatchObject({ status: 200, body: { run: { id: runId } } });
  await refused("POST", path, { body: { answer: "approve" }, headers: any }, 409, "gate_not_waiting");
  await refused("GET", `/api/inbox/${runId}.1`, {}, 409, "gate_not_waiting");
});

test("28: a method that is not there, with those that are", async () => {
  for (const method of ["DELETE", "PUT", "PATCH", "OPTIONS"]) {
    const reply = await served.call(method, "/api/runs");
    expect(reply).toMatchObject({ status: 405, body: { code: "method_not_allowed" } });
    expect(reply.headers.get("allow")).toBe("GET, POST, HEAD");
    expect(reply.headers.get("access-control-allow-origin")).toBeNull();
  }
});

test("29: a flow that there is not, with those that there are", async () => {
  for (const flow of ["featur", "", "../feature", "constructor"])
    expect((await refused("POST", "/api/runs", start({ flow }), 422, "unknown_flow")).hint).toContain("feature");
});

test("a mistake of ours is told without its stack, and the log has it", async () => {
  const store = { ...served.deps.store, listRuns: () => Promise.reject(new Error("secret detail")) };
  const { app } = served;
  served.app = createApp({ ...served.deps, store }, { port: 4321 });
  const problem = await refused("GET", "/api/runs", {}, 500, "internal_error");
  served.app = app;
  expect(JSON.stringify(problem)).not.toContain("secret");
  expect(served.problems.splice(0)).toEqual([expect.stringContaining("secret detail")]);
});
