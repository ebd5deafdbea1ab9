// The shortest way through: start over HTTP, find the gate in the inbox, approve it, read what happened.

import { afterEach, beforeEach, expect, test } from "vitest";
import { ROUTES } from "../../../src/http/contract/routes.ts";
import { until } from "../../harness/until.ts";
import { type Served, serve } from "./served.ts";

let served: Served;
beforeEach(async () => {
  served = await serve();
  served.play({
    spec: [{ via: "json-tail", verdict: "APPROVED" }],
    design: [{ via: "json-tail", verdict: "APPROVED" }],
    build: [{ via: "json-tail", verdict: "COMPLETE", write: { "work.txt": "line" }, commit: true }],
    qa: [{ via: "json-tail", verdict: "SHIP" }],
  });
});
afterEach(() => served.close());

type Item = { id: string; version: string; stage: string; runId: string };

const nextItem = (runId: string, not?: string) =>
  until("an item", async () => {
    const { body } = await served.call("GET", "/api/inbox");
    return (body["items"] as Item[]).find((item) => item.runId === runId && item.id !== not);
  });

test("R-000-12: a run is started, approved twice and read, over HTTP alone", async () => {
  const started = await served.call("POST", "/api/runs", { body: { flow: "feature", title: "Do it", body: "All." } });
  expect(started.status).toBe(201);
  const { id } = ROUTES.startRun.answer.schema.parse(started.body).run;

  const gate = await nextItem(id);
  const shown = await served.call("GET", `/api/inbox/${gate.id}`);
  expect(ROUTES.showItem.answer.schema.parse(shown.body).answers).toContain("approve");
  expect(shown.headers.get("etag")).toBe(`"${gate.version}"`);
  const first = await served.call("POST", `/api/inbox/${gate.id}/answer`, {
    body: { answer: "approve" },
    headers: { "if-match": `"${gate.version}"` },
  });
  expect(first).toMatchObject({ status: 200, body: { answer: "approve" } });

  const review = await nextItem(id, gate.id);
  const detail = ROUTES.showRun.answer.schema.parse((await served.call("GET", `/api/runs/${id}`)).body);
  expect(detail).toMatchObject({ status: "waiting", word: "review" });
  expect(detail.stages.filter(({ state }) => state === "done").map((stage) => stage.id)).toContain("build");
  const second = await served.call("POST", `/api/inbox/${review.id}/answer`, {
    body: { answer: "approve" },
    headers: { "if-match": `"${review.version}"` },
  });
  expect(second.status).toBe(200);
  await until("the end", async () => {
    const { body } = await served.call("GET", `/api/runs/${id}`);
    return body["status"] === "completed" ? true : undefined;
  });

  const feature = await served.call("GET", `/api/runs/${id}/feature`);
  expect(ROUTES.showFeature.answer.schema.parse(feature.body)).toMatchObject({
    status: "shipped",
    revision_count: 0,
    current_agent: null,
  });

  const types: string[] = [];
  for (let after: number | null = 0; after !== null; ) {
    const page = ROUTES.runEvents.answer.schema.parse(
      (await served.call("GET", `/api/runs/${id}/events?limit=7&after=${after}`)).body,
    );
    types.push(...page.events.map(({ event }) => event.type));
    after = page.next;
  }
  expect(types[0]).toBe("run.created");
  expect(types.filter((type) => type === "gate.answered")).toHaveLength(2);
  expect(types).toHaveLength((await served.bench.events(id)).length);

  const prompt = await served.call("GET", `/api/runs/${id}/attempts/build/1/prompt?limit=20`);
  expect(prompt.status).toBe(200);
  expect(ROUTES.attemptFile.answer.schema.parse(prompt.body)).toMatchObject({ offset: 0, next: 20 });
  const diff = await served.call("GET", `/api/runs/${id}/attempts/build/1/diff`);
  expect(String(diff.body["text"])).toContain("work.txt");
  expect(served.problems).toEqual([]);
});

test("every reading route answers as its schema says", async () => {
  const { body } = await served.call("POST", "/api/runs", { body: { flow: "feature", title: "Do it" } });
  const { id } = ROUTES.startRun.answer.schema.parse(body).run;
  const gate = await nextItem(id);
  const reads = [
    [ROUTES.listRuns, "/api/runs?status=waiting&flow=feature"],
    [ROUTES.listRuns, "/api/runs?status=pending"],
    [ROUTES.showRun, "/api/runs/1"],
    [ROUTES.runEvents, `/api/runs/${id}/events`],
    [ROUTES.listInbox, "/api/inbox"],
    [ROUTES.showItem, `/api/inbox/${gate.id}`],
    [ROUTES.listFlows, "/api/flows"],
    [ROUTES.showFlow, "/api/flows/feature"],
    [ROUTES.listAgents, "/api/agents"],
    [ROUTES.cost, "/api/cost?by=stage&since=2026-01-01"],
    [ROUTES.health, "/api/health"],
    [ROUTES.settings, "/api/settings"],
    [ROUTES.openapi, "/api/openapi.json"],
  ] as const;
  for (const [route, path] of reads) {
    const reply = await served.call("GET", path);
    expect({ path, ...reply }).toMatchObject({ path, status: 200 });
    expect({ path, fault: route.answer.schema.safeParse(reply.body).error }).toEqual({ path });
  }
  // Both a canonical status and a source's word find the run.
  expect((await served.call("GET", "/api/runs?status=pending")).body["runs"]).toHaveLength(1);
  expect((await served.call("GET", "/api/runs?status=shipped")).body["runs"]).toHaveLength(0);
  const page = await served.call("GET", "/docs");
  expect(page.headers.get("content-type")).toContain("text/html");
  expect(String(page.body["text"])).toContain("/api/inbox/{item}/answer");
  expect(String(page.body["text"])).not.toMatch(/<script|<style|style=/);
});

test("lists are read page by page, newest first, without a gap", async () => {
  for (let count = 0; count < 5; count++)
    expect((await served.call("POST", "/api/runs", { body: { flow: "feature", title: `Run ${count}` } })).status).toBe(
      201,
    );
  const numbers: number[] = [];
  for (let before = ""; ; ) {
    const { body } = await served.call("GET", `/api/runs?limit=2${before}`);
    const page = ROUTES.listRuns.answer.schema.parse(body);
    numbers.push(...page.runs.map(({ number }) => number));
    if (page.next === null) break;
    before = `&before=${page.next}`;
  }
  expect(numbers).toEqual([5, 4, 3, 2, 1]);
});
