// What the API tells about flows and about where runs lose time, from real runs of scripted agents.

import { afterAll, beforeAll, expect, test } from "vitest";
import { ROUTES } from "../../../src/http/contract/routes.ts";
import { type Served, serve } from "./served.ts";

let served: Served;
beforeAll(async () => {
  served = await serve();
});
afterAll(() => served.close());

test("the source of a flow is its text with its file; one that is not there is named with those that are", async () => {
  const { status, body } = await served.call("GET", "/api/flows/feature/source");
  expect(status).toBe(200);
  expect(body).toMatchObject({ name: "feature", origin: "shipped", problems: [] });
  expect(String(body["text"])).toContain("flow: feature");
  expect(String(body["file"])).toMatch(/feature\.yaml$/);
  const missing = await served.call("GET", "/api/flows/nothing/source");
  expect(missing).toMatchObject({ status: 404, body: { code: "flow_not_found" } });
  expect(String(missing.body["hint"])).toContain("feature");
});

test("runs that nobody made have no medians; a run at its gate is counted as open, and its wait is shown", async () => {
  expect((await served.call("GET", "/api/flows/feature/stats")).body).toMatchObject({ runs: 0, medianMs: null });
  served.play({});
  const made = await served.call("POST", "/api/runs", { body: { flow: "feature", title: "Add a login" } });
  expect(made.status).toBe(201);
  const stats = (await served.call("GET", "/api/flows/feature/stats")).body;
  expect(stats).toEqual({
    flow: "feature",
    runs: 1,
    completed: 0,
    canceled: 0,
    stopped: 0,
    medianMs: null,
    medianUsd: null,
    loops: 0,
  });
  const insights = (await served.call("GET", "/api/insights")).body;
  expect(insights).toMatchObject({
    since: null,
    runs: 1,
    loops: [],
    waits: [{ kind: "gate", flow: "feature", stage: "start", times: 1, open: 1, medianMs: null }],
    failures: [],
  });
  expect((await served.call("GET", "/api/insights?since=2999-01-01")).body).toMatchObject({ runs: 0, waits: [] });
  expect((await served.call("GET", "/api/insights?since=soon")).body).toMatchObject({ code: "invalid_query" });
});

test("the programs that can play agents and the project are described", async () => {
  const { body } = await served.call("GET", "/api/runners");
  expect(ROUTES.listRunners.answer.schema.parse(body).runners.map(({ runner }) => runner)).toContain("claude");
  expect((await served.call("GET", "/api/project")).body).toMatchObject({ path: served.bench.project });
});
