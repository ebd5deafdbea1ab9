// An accept is stored in two steps, the start and what came with it. Whoever was cut off between them asks again.

import { afterAll, beforeAll, expect, test } from "vitest";
import { createApp } from "../../src/server/app.ts";
import { openWorld, rowOf, type World } from "./stories.ts";

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(() => world.close());

test("what came with an accept is kept when the same key asks again, also after others went on", async () => {
  const { served } = world;
  const { store } = served.parts;
  const story = await world.newStory();
  const row = await world.leadTo(story, "reviewer");
  const accept = () =>
    world.post(
      { action: "accept", handoffId: row.id, payload: { note: "mine" } },
      { headers: { "idempotency-key": "accept" } },
    );
  const broken = { ...store, noteAttempt: () => Promise.reject(new Error("the disk is full")) };
  served.app = createApp({ ...served.parts, store: broken }, { port: 4321 });
  expect((await accept()).status).toBe(500);
  served.problems.length = 0;
  world.restart();
  expect((await world.post({ action: "reject", handoffId: row.id, reason: "no" })).status).toBe(200);
  expect(rowOf(await accept())).toMatchObject({ status: "rejected", payload: { ...row.payload, note: "mine" } });
  const before = await served.seq();
  expect(rowOf(await accept())).toMatchObject({ payload: { note: "mine" } });
  expect(await served.seq()).toBe(before);
});
