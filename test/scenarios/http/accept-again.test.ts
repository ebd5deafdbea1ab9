// Wishes for a handoff that are sent again after a restart. An accept is stored in two steps, the start and what came with it: whoever was
// cut off between them asks again.

import { afterAll, beforeAll, expect, test } from "vitest";
import { createApp } from "../../../src/http/server/app.ts";
import { CODE, openWorld, rowOf, type World } from "./stories.ts";

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

test("what came with an accept is kept when the same key asks again, also after others went on", async () => {
  const { served } = world;
  const { store } = served.deps;
  const story = await world.newStory();
  const row = await world.leadTo(story, "reviewer");
  const accept = () =>
    world.post(
      { action: "accept", handoffId: row.id, payload: { note: "mine" } },
      { headers: { "idempotency-key": "accept" } },
    );
  const broken = { ...store, noteAttempt: () => Promise.reject(new Error("the disk is full")) };
  served.app = createApp({ ...served.deps, store: broken }, { port: 4321 });
  expect((await accept()).status).toBe(500);
  served.problems.length = 0;
  world.restart();
  expect((await world.post({ action: "reject", handoffId: row.id, reason: "no" })).status).toBe(200);
  expect(rowOf(await accept())).toMatchObject({ status: "rejected", payload: { ...row.payload, note: "mine" } });
  const before = await served.seq();
  expect(rowOf(await accept())).toMatchObject({ payload: { note: "mine" } });
  expect(await served.seq()).toBe(before);
});

test("25: a key that did something else before a restart is refused, and does nothing", async () => {
  const story = await world.newStory();
  const first = await world.leadTo(story, "implementer");
  const send = (body: object) => world.post(body, { headers: { "idempotency-key": "one" } });
  expect((await send({ action: "accept", handoffId: first.id })).status).toBe(200);
  const second = rowOf(await world.create(story, "implementer", "reviewer", CODE));
  world.restart();
  const before = await world.served.seq();
  for (const wish of [
    { action: "accept", handoffId: second.id },
    { action: "reject", handoffId: second.id, reason: "no" },
    { action: "timeout", handoffId: second.id },
    { action: "reject", handoffId: first.id, reason: "no" },
  ])
    expect(await send(wish)).toMatchObject({ status: 422, body: { code: "idempotency_key_reused" } });
  expect((await send({ action: "accept", handoffId: first.id })).status).toBe(200);
  expect(await world.served.seq()).toBe(before);
});
