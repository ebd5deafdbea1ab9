// Loose ends over the API: shown with the items, gone when they are settled, and trust only to who may approve.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ROUTES } from "../../../src/http/contract/routes.ts";
import { type Served, serve } from "./served.ts";

let served: Served;
beforeEach(async () => {
  served = await serve();
});
afterEach(() => served.close());

async function looseEnds(token?: string) {
  const reply = await served.call("GET", "/api/inbox", token === undefined ? {} : { token });
  return ROUTES.listInbox.answer.schema.parse(reply.body).looseEnds;
}

test("the API shows a stopped run, lets it be retried with another agent, and tells only operators of files that wait for trust", async () => {
  const { bench } = served;
  const missing = { command: [join(bench.dir, "no-such-agent")] };
  const run = await bench.run("checklist", {}, { title: "Check it", facts: { runners: { "*": missing } } });
  expect(run.status).toBe("stopped");
  mkdirSync(join(bench.project, ".passrail/agents"), { recursive: true });
  writeFileSync(join(bench.project, ".passrail/agents/new.md"), "---\nname: new\ndescription: n\n---\nHi.\n");
  expect(new Map((await looseEnds()).map(({ kind, title }) => [kind, title]))).toEqual(
    new Map([
      ["stopped", "Check it"],
      ["trust", bench.project],
    ]),
  );
  const viewer = await served.keys.create({ name: "wall", kind: "viewer" });
  expect((await looseEnds(viewer.token)).map(({ kind }) => kind)).toEqual(["stopped"]);

  const retry = (agents: object) => served.call("POST", `/api/runs/${run.id}/retry`, { body: { agents } });
  expect(await retry({ nobody: "claude" })).toMatchObject({ status: 409, body: { code: "action_refused" } });
  expect(await retry({ "*": join(bench.dir, "other-agent") })).toMatchObject({ status: 200, body: { changed: true } });
  await bench.passrail.engine.idle();
  const again = (await looseEnds()).find(({ kind }) => kind === "stopped");
  expect(again).toMatchObject({ run: { id: run.id, number: 1 } });
  expect(again?.text).toContain("other-agent");
  await served.call("POST", `/api/runs/${run.id}/cancel`, { body: { reason: "enough" } });
  expect((await looseEnds()).map(({ kind }) => kind)).toEqual(["trust"]);
});
