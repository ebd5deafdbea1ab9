// One look over the API: what works with its last line, what comes next and why, and what a person put off.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { toPauseHold } from "../../../src/core/run/pause-all.ts";
import { ROUTES } from "../../../src/http/contract/routes.ts";
import { createApp } from "../../../src/http/server/app.ts";
import { until } from "../../harness/until.ts";
import { type Served, serve } from "./served.ts";

let served: Served;
beforeEach(async () => {
  served = await serve();
});
afterEach(() => served.close());

async function look(token?: string) {
  const reply = await served.call("GET", "/api/now", token === undefined ? {} : { token });
  return ROUTES.showNow.answer.schema.parse(reply.body);
}

test("a working attempt shows who works since when and its last line; what waits its turn says why", async () => {
  expect(await look()).toMatchObject({ working: [], next: [], isNew: true, today: { usd: 0, unknownUsd: 0 } });
  served.play({ "*": [{ print: "Reading\nall the tests\n", sleepMs: 600_000 }] });
  const start = (title: string) => served.call("POST", "/api/runs", { body: { flow: "checklist", title } });
  const { run } = ROUTES.startRun.answer.schema.parse((await start("Check it")).body);
  const row = await until(
    "its line is there",
    async () => (await look()).working.find(({ lastLine }) => lastLine !== null),
    60_000,
  );
  expect(row).toMatchObject({ runId: run.id, number: 1, title: "Check it", flow: "checklist", attempt: 1 });
  expect(row).toMatchObject({ runner: "command", lastLine: { text: "all the tests", at: null }, usage: null });
  expect(await look()).toMatchObject({ isNew: false });
  const { run: second } = ROUTES.startRun.answer.schema.parse((await start("Check that")).body);
  const waits = await until(
    "it waits",
    async () => (await look()).next.find(({ runId }) => runId === second.id),
    60_000,
  );
  expect(waits.why).toBe("#1 works in the same folder");
  await served.call("POST", `/api/runs/${second.id}/cancel`, { body: {} });

  // The agent ends at once; the run waits for a person, and the same stage starts again when they resume it.
  const stop = () => served.call("POST", `/api/runs/${run.id}/stop`, { body: { reason: "wrong file" } });
  expect(await stop()).toMatchObject({ status: 200, body: { changed: true } });
  await until("it ended", async () => ((await look()).working.length === 0 ? true : undefined), 60_000);
  expect((await look()).next).toMatchObject([{ runId: run.id, attempt: 2, why: "a person has paused the run" }]);
  expect(await stop()).toMatchObject({ status: 200, body: { changed: false } });
  const [first] = await served.deps.store.attempts(run.id);
  expect(first).toMatchObject({ attempt: 1, status: "canceled" });
  await served.call("POST", `/api/runs/${run.id}/resume`, { body: {} });
  await until("it works again", async () => (await look()).working.find(({ attempt }) => attempt === 2), 60_000);
  await served.call("POST", `/api/runs/${run.id}/cancel`, { body: {} });
});

test("what a person puts off is theirs alone, survives a restart, comes back at its time, and a broken file hides nothing", async () => {
  const snooze = (id: string, time: string | null) =>
    served.call("POST", "/api/now/snooze", { body: { id, until: time } });
  const later = new Date(Date.now() + 3_600_000).toISOString();
  expect(await snooze("r0a1b2c3d4e.1", later)).toMatchObject({ status: 200 });
  expect(await snooze("stopped:r0a1b2c3d4e", later)).toMatchObject({ status: 200 });
  served.app = createApp(served.deps, { port: 4321 });
  const both = ["r0a1b2c3d4e.1", "stopped:r0a1b2c3d4e"].map((id) => ({ id, until: later }));
  expect((await look()).snoozed).toEqual(both);
  const viewer = await served.keys.create({ name: "wall", kind: "viewer" });
  expect((await look(viewer.token)).snoozed).toEqual([]);
  expect(await snooze("r0a1b2c3d4e.1", null)).toMatchObject({ status: 200, body: { snoozed: [both[1]] } });
  expect(await snooze("stopped:r0a1b2c3d4e", "2001-01-01T00:00:00Z")).toMatchObject({ body: { snoozed: [] } });
  expect(await snooze("x", "tomorrow")).toMatchObject({ status: 422 });

  const file = join(served.deps.home, "snoozed.json");
  writeFileSync(file, "{ broken");
  expect((await look()).snoozed).toEqual([]);
  await snooze("x", later);
  expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ "human:tester": [{ id: "x", until: later }] });
});

test("everything is paused and resumed at once, also what is started later; what a person had paused before is resumed with it, and an ended run stays ended", async () => {
  const { bench } = served;
  served.play({});
  const start = async (title: string) =>
    ROUTES.startRun.answer.schema.parse(
      (await served.call("POST", "/api/runs", { body: { flow: "feature", title } })).body,
    ).run;
  const [one, two, three] = [await start("One"), await start("Two"), await start("Three")];
  await served.call("POST", `/api/runs/${two.id}/pause`, { body: {} });
  await served.call("POST", `/api/runs/${three.id}/cancel`, { body: {} });
  const isPaused = async (id: string) => (await bench.passrail.store.loadRun(id))?.run.paused;
  expect((await served.call("POST", "/api/pause", { body: { reason: "night" } })).body).toEqual({
    changed: [1],
    refused: [],
  });
  expect([await isPaused(one.id), await isPaused(two.id), await isPaused(three.id)]).toEqual([true, true, false]);
  expect((await bench.events(one.id)).find(({ type }) => type === "run.paused")).toMatchObject({ reason: "night" });

  // A run that is started later begins paused, also after a restart and by another process.
  expect((await look()).paused).toMatchObject({ by: "human:tester", reason: "night", text: expect.any(String) });
  const later = await start("Later");
  expect(await isPaused(later.id)).toBe(true);
  expect((await bench.events(later.id)).map(({ type }) => type).slice(0, 2)).toEqual(["run.created", "run.paused"]);
  expect((await bench.passrail.app.listHolds()).map(({ runner }) => runner)).toEqual([]);

  // A gate that is answered meanwhile starts nothing.
  await served.call("POST", `/api/inbox/${one.id}.1/answer`, {
    body: { answer: "approve" },
    headers: { "if-match": "*" },
  });
  await bench.passrail.engine.idle();
  expect((await look()).working).toEqual([]);
  expect((await look()).next).toMatchObject([{ number: 1, state: "paused" }]);
  expect((await served.call("POST", "/api/resume", { body: {} })).body).toEqual({
    changed: [1, 2, 4],
    refused: [],
  });
  expect((await look()).paused).toBeNull();

  // A process that died while it paused one run after another leaves the rest to the next one.
  const paused = { by: "human:ann", since: "2026-01-01T00:00:00.000Z", reason: "", isWhole: false } as const;
  await bench.passrail.store.setHold(toPauseHold(paused));
  await bench.passrail.app.finishPause();
  expect([await isPaused(one.id), await isPaused(two.id), await isPaused(later.id)]).toEqual([true, true, true]);
  expect(await bench.passrail.app.lookAtPause()).toEqual({ ...paused, isWhole: true });
  await served.call("POST", "/api/resume", { body: {} });
  await bench.passrail.engine.idle();
  expect((await bench.events(one.id)).some(({ type }) => type === "stage.started")).toBe(true);
});
