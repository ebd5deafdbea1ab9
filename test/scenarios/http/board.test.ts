// What a board needs: lanes of a flow, cards of tickets, what can be done with each.

import { appendFileSync, existsSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ROUTES } from "../../../src/http/contract/routes.ts";
import { attemptFiles } from "../../../src/attempt/attempt-files.ts";
import { until } from "../../harness/until.ts";
import { type Served, serve } from "./served.ts";

let served: Served;
beforeAll(async () => {
  served = await serve();
});
afterAll(() => served.close());

const say = (verdict: string, issues: readonly string[] = []) => ({ via: "json-tail", verdict, issues });
const toQa = { spec: [say("APPROVED")], design: [say("APPROVED")], build: [say("COMPLETE")] };

async function tickets(query: string) {
  const { body } = await served.call("GET", `/api/tickets${query}`);
  return ROUTES.listTickets.answer.schema.parse(body).tickets;
}
async function acts(run: string) {
  const { body } = await served.call("GET", `/api/runs/${run}/acts`);
  return ROUTES.listActs.answer.schema.parse(body).acts;
}

test("R-000-40: a flow tells its status words in order, and a story's agents", async () => {
  const show = async (flow: string) =>
    ROUTES.showFlow.answer.schema.parse((await served.call("GET", `/api/flows/${flow}`)).body);
  const feature = await show("feature");
  expect(feature.statuses.slice(0, 3)).toEqual(["pending", "approved", "speccing"]);
  expect(feature.story).toBeNull();
  expect((await show("story")).story).toEqual({
    agents: ["analyst", "implementer", "reviewer", "refactorer", "documenter"],
    entry: "orchestrator",
    exit: "orchestrator",
  });
});

test("R-000-37, R-000-38, R-000-41: a card has stage, agent, loop n of max and the answers that are waited for", async () => {
  const run = await served.bench.run(
    "feature",
    { ...toQa, qa: [say("REVISE", ["slow"]), say("SHIP")] },
    { subject: "B-1" },
  );
  expect((await tickets("?flow=feature&open=true"))[0]).toMatchObject({
    id: "B-1",
    stage: "start",
    counters: [],
    waits: [{ kind: "gate", stage: "start", who: "owner", answers: ["approve", "decline"] }],
  });
  await served.bench.answer(run, "gate", "approve");
  const [card] = await tickets("?flow=feature&open=true");
  expect(card).toMatchObject({
    word: "review",
    stage: "ship",
    agent: null,
    paused: false,
    why: "gate ship",
    counters: [{ key: "revision", loops: 1, max: 2 }],
    waits: [{ id: `${run.id}.2`, answers: ["approve", "revise", "decline"] }],
  });
  expect(await tickets("?flow=story")).toEqual([]);
  expect(await tickets("?open=false")).toEqual([]);
  await served.bench.answer(await served.bench.load(run.id), "gate", "decline");
  expect((await tickets("?open=false")).map(({ id, waits }) => [id, waits])).toEqual([["B-1", []]]);
  expect(await tickets("?open=true")).toEqual([]);
  expect(await served.call("GET", "/api/tickets?open=maybe")).toMatchObject({ body: { code: "invalid_query" } });
});

test("R-000-42: what an agent says counts as a sign of life, although nothing happens to the run", async () => {
  const hold = `${served.bench.dir}/go`;
  const run = await served.bench.run("feature", { spec: [{ ...say("APPROVED"), hold }] }, { subject: "B-2" });
  const answered = served.bench.answer(run, "gate", "approve");
  const output = await until("an agent at work", async () => {
    const [card] = await tickets("?open=true");
    return card?.agent === "IN1" ? attemptFiles(served.bench.home, run.id, "spec", 1).output : undefined;
  });
  const { updatedAt } = (await tickets("?open=true"))[0] ?? { updatedAt: "" };
  const later = await until("a later sign of life", async () => {
    if (!existsSync(output)) return undefined;
    appendFileSync(output, "still thinking\n");
    const [card] = await tickets("?open=true");
    return card !== undefined && (card.activeAt ?? "") > (updatedAt ?? "") ? card : undefined;
  });
  expect(later.updatedAt).toBe(updatedAt);
  await served.call("POST", `/api/runs/${run.id}/cancel`, { body: {} });
  await answered;
});

test("every act says whether it can be done now, by the rules that decide it then", async () => {
  const run = await served.bench.run("feature", { ...toQa, qa: [say("SHIP")] }, { subject: "B-3" });
  const possible = async () =>
    (await acts(run.id)).flatMap(({ act, stage, why }) => (why === null ? [`${act} ${stage ?? ""}`.trim()] : []));
  expect(await possible()).toEqual(["pause", "cancel"]);
  expect(await acts(run.id)).toContainEqual({ act: "rerun", stage: null, why: "no earlier stage has worked yet" });
  expect((await acts(run.id)).find(({ act }) => act === "skip")?.why).toContain("cannot be skipped");
  await served.bench.answer(run, "gate", "approve");
  expect(await possible()).toEqual(["pause", "rerun spec", "rerun design", "rerun build", "rerun qa", "cancel"]);
  expect(await served.call("POST", `/api/runs/${run.id}/pause`, { body: {} })).toMatchObject({ status: 200 });
  expect(await possible()).toContain("resume");
  await served.call("POST", `/api/runs/${run.id}/cancel`, { body: {} });
  expect(await possible()).toEqual([]);
  expect(new Set((await acts(run.id)).map(({ why }) => why))).toEqual(new Set(["the run is canceled (canceled)"]));
  // Asking changes nothing.
  expect(await served.bench.passrail.store.verify()).toEqual([]);
  expect(await served.call("GET", "/api/runs/999/acts")).toMatchObject({ status: 404 });
});

test("several runs are asked at once what they allow; one that does not exist is left out", async () => {
  const first = await served.bench.run("feature", toQa, { subject: "M-1" });
  const second = await served.bench.run("feature", toQa, { subject: "M-2" });
  const { body } = await served.call("GET", `/api/acts?runs=${second.id},r0000000000,${first.id}`);
  const { runs } = ROUTES.listActsOfRuns.answer.schema.parse(body);
  expect(runs.map(({ run }) => run)).toEqual([second.id, first.id]);
  expect(runs[1]?.acts).toEqual(await acts(first.id));
  for (const query of ["", "?runs=", "?runs=../x", `?runs=${Array.from({ length: 101 }, () => first.id).join(",")}`])
    expect(await served.call("GET", `/api/acts${query}`)).toMatchObject({ body: { code: "invalid_query" } });
});
