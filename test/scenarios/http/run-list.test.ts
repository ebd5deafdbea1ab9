// The list of runs tells enough to choose one: who works or is waited for, since when, how often it was sent back, what it cost.

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
    build: [{ via: "json-tail", verdict: "COMPLETE", write: { "a.txt": "1" } }],
    qa: [
      { via: "json-tail", verdict: "REVISE", issues: [{ description: "No test" }] },
      { via: "json-tail", verdict: "SHIP" },
    ],
  });
});
afterEach(() => served.close());

const list = async (query = "") =>
  ROUTES.listRuns.answer.schema.parse((await served.call("GET", `/api/runs${query}`)).body).runs;

test("R-X-11: a row says whom it waits for, why and since when, and the loop that it has made", async () => {
  const started = await served.call("POST", "/api/runs", { body: { flow: "feature", title: "Add OAuth", id: "F-7" } });
  const { id } = ROUTES.startRun.answer.schema.parse(started.body).run;
  const [row] = await until("the gate", async () => {
    const rows = await list();
    return rows[0]?.status === "waiting" ? rows : undefined;
  });
  expect(row).toMatchObject({ id, agent: "owner", why: "gate start", loop: null, paused: false });
  expect(row?.since).toMatch(/^\d{4}-/);
  const { body } = await served.call("GET", "/api/inbox");
  const [item] = body["items"] as [{ id: string; version: string }];
  await served.call("POST", `/api/inbox/${item.id}/answer`, {
    body: { answer: "approve" },
    headers: { "if-match": `"${item.version}"` },
  });
  const after = await until("the second gate", async () => {
    const rows = await list("?status=review");
    return rows[0];
  });
  expect(after).toMatchObject({ why: "gate ship", loop: { key: "revision", loops: 1, max: 2 } });
});

test("a text finds runs by title and by ticket", async () => {
  for (const [title, ticket] of [
    ["Add OAuth", "F-7"],
    ["Fix 100% of it", "F-8"],
  ])
    await served.call("POST", "/api/runs", { body: { flow: "feature", title, id: ticket } });
  expect((await list("?q=oauth")).map((run) => run.subject.id)).toEqual(["F-7"]);
  expect((await list("?q=f-8")).map((run) => run.subject.id)).toEqual(["F-8"]);
  expect((await list("?q=0%25")).map((run) => run.subject.id)).toEqual(["F-8"]);
  expect(await list("?q=nothing")).toEqual([]);
  expect((await served.call("GET", "/api/runs?q=")).status).toBe(400);
});

test("R-X-11: a row and the ticket's history name the kinds of the open items", async () => {
  served.play({ spec: [{ via: "json-tail", verdict: "REJECT", issues: [{ description: "Too vague" }] }] });
  await served.call("POST", "/api/runs", { body: { flow: "feature", title: "Add OAuth", id: "F-7" } });
  const waiting = (kind: string) =>
    until(`it waits for a ${kind}`, async () => (await list()).find(({ waitsFor: [first] }) => first === kind));
  const { id } = await waiting("gate");
  await served.call("POST", `/api/inbox/${id}.1/answer`, { body: { answer: "approve" }, headers: { "if-match": "*" } });
  expect((await waiting("escalation")).waitsFor).toEqual(["escalation"]);
  const ticket = ROUTES.showTicket.answer.schema.parse((await served.call("GET", "/api/tickets/F-7")).body);
  expect(ticket.history).toMatchObject([{ id, waitsFor: ["escalation"] }]);
});
