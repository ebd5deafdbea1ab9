// A run that is started over the API names who plays it; what it may name is checked as on the command line.

import { afterAll, beforeAll, expect, test } from "vitest";
import { type Running, startDaemon } from "./running.ts";

let daemon: Running;
beforeAll(async () => {
  daemon = await startDaemon();
});
afterAll(() => daemon.close());

const start = (more: Readonly<Record<string, unknown>>) =>
  daemon.call("POST", "/api/runs", { body: { flow: "story", title: "Login", ...more } });

test("who plays a run can be said with its start; nobody, an unknown stage or a shell line are refused and nothing is stored", async () => {
  const nobody = await start({});
  expect([nobody.status, nobody.body["code"]]).toEqual([422, "run_refused"]);
  for (const agents of [{ "*": "" }, { nobody: "claude" }, { "*": "a | b" }, { "*": 7 }]) {
    const refused = await start({ agents });
    expect([agents, refused.status]).toEqual([agents, 422]);
  }
  expect((await daemon.call("GET", "/api/runs")).body["runs"]).toEqual([]);
  const started = await start({ agents: { "*": "outside" }, id: "v0.1:1.1.1" });
  expect(started.status).toBe(201);
  const story = await daemon.call("GET", "/api/handoffs?storyId=v0.1:1.1.1");
  expect(story.body).toMatchObject({ currentAgent: "analyst", handoffs: [{ status: "pending" }] });
});
