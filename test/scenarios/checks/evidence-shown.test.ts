// The one table of evidence where people decide: the gate's item in the API, the run in the API, and the pull request.

import { afterEach, beforeEach, expect, test } from "vitest";
import { ROUTES } from "../../../src/http/contract/routes.ts";
import { describeWork } from "../../../src/ticket/land/describe.ts";
import { type Served, serve } from "../http/served.ts";
import { check } from "./checks.ts";

let served: Served;
beforeEach(async () => {
  served = await serve();
});
afterEach(() => served.close());

test("the gate, the run and the pull request show the same rows; the log of a check is a file of its attempt", async () => {
  const { bench } = served;
  const script = {
    spec: [{ verdict: "APPROVED" }],
    design: [{ verdict: "APPROVED" }],
    qa: [{ verdict: "SHIP" }],
    build: [
      {
        verdict: "COMPLETE",
        payload: { criteria: [{ criterion: "pays | @bob fixes #7", met: true, evidence: "src/none.ts:1" }] },
      },
    ],
  };
  const checks = { unit: check(bench.dir, "(console.log('3 fine'), true)") };
  const run = await bench.run("feature", script, { facts: { config: { checks } } });
  await bench.answer(run, "gate", "approve");
  const { items } = await bench.load(run.id);
  const item = await served.call("GET", `/api/inbox/${run.id}.${items}`);
  const { table } = ROUTES.showItem.answer.schema.parse(item.body).evidence;
  expect(table.map(({ what, state, isGood }) => [what, state, isGood])).toEqual([
    ["unit", "run", true],
    ["pays | @bob fixes #7", "missing", false],
  ]);
  const shown = await served.call("GET", `/api/runs/${run.id}`);
  expect(ROUTES.showRun.answer.schema.parse(shown.body).evidence).toEqual(table);
  const log = await served.call("GET", `/api/runs/${run.id}/attempts/build/1/check-unit`);
  expect(log.body["text"]).toContain("3 fine");
  expect((await served.call("GET", `/api/runs/${run.id}/attempts/build/1/check-..%2Foutput`)).status).toBe(400);
  const attempts = await bench.passrail.store.attempts(run.id);
  const { body } = describeWork(await bench.load(run.id), attempts, { checks: [], url: "", redact: (text) => text });
  expect(body).toMatch(/^\| build \| unit \| ✓ \| run by Passrail \| unit passed/mu);
  expect(body).toMatch(
    /^\| build \| pays .*bob fixes .*7 \| ✗ \| missing \| src\/none\.ts:1; src\/none\.ts is not in the commit \|$/mu,
  );
  expect(body).not.toContain("@bob");
});
