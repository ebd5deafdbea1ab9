// Many want one handoff while the daemon dies and comes back.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Running, startDaemon } from "./running.ts";

let daemon: Running;
beforeAll(async () => {
  daemon = await startDaemon();
  writeFileSync(join(daemon.project, "passrail.yaml"), "runner: outside\n");
});
afterAll(() => daemon.close());

test("R-003-27: of fifty accepts one wins, also when the daemon is killed in between and all try again with their keys", async () => {
  await daemon.call("POST", "/api/run", { body: { action: "start", storyId: "v0.1:1.1.1" } });
  const accept = async (index: number) => {
    const reply = await daemon.call("POST", "/api/handoffs", {
      body: { action: "accept", handoffId: 1 },
      headers: { "idempotency-key": `caller-${index}` },
    });
    return reply.status;
  };
  const callers = Array.from({ length: 50 }, (_, index) => index);
  const answers = new Map<number, number>();
  const first = callers.map(async (index) => answers.set(index, await accept(index)).size);
  await Promise.race(first);
  daemon.process.child.kill("SIGKILL");
  await daemon.process.ended;
  await Promise.allSettled(first);
  await daemon.up();
  const retried = await Promise.all(callers.map(accept));
  expect(retried.filter((status) => status === 200)).toHaveLength(1);
  expect(retried.filter((status) => status === 409)).toHaveLength(49);
  for (const [index, status] of answers) expect([index, retried[index]]).toEqual([index, status]);
  const { body } = await daemon.call("GET", "/api/runs?limit=1");
  const [run] = (body as unknown as { runs: { id: string }[] }).runs;
  const history = await daemon.call("GET", `/api/runs/${run?.id}/events?limit=200`);
  expect(history.text.match(/"handoff\.accepted"/gu)).toHaveLength(1);
  expect(history.text).not.toContain("signal.ignored");
});
