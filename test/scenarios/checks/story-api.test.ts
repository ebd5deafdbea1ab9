// An agent that hands over through the API while its program still runs: its work is committed and checked before the pass counts.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "../../harness/until.ts";
import { type Served, serve } from "../http/served.ts";
import { check, checksOf } from "./checks.ts";

let served: Served;
beforeEach(async () => {
  served = await serve();
});
afterEach(() => served.close());

const CODE = { files_changed: ["a.ts"], summary: "s", tests_added: ["t"], build_passes: true, discoveries: {} };
const PLAN = { plan: "p", files_to_modify: [], approach: "a", risks: [], questions_resolved: [] };
const STORY = "v0.1:1.1.1";

test("a handover through the API on a red tree does not pass: the agent gets its work again", async () => {
  const { bench } = served;
  const token = join(bench.dir, "token");
  // The second attempt mends what the first one broke; both leave their work uncommitted, and run on until their handover was answered.
  const work = `echo $PASSRAIL_ATTEMPT > try-$PASSRAIL_ATTEMPT.txt; sed -n 's/^PASSRAIL_TOKEN = //p' | tr -d '\\n' > ${token}.new && mv ${token}.new ${token}-$PASSRAIL_ATTEMPT; until [ -e ${token}-$PASSRAIL_ATTEMPT.answered ]; do sleep 0.05; done`;
  const run = await bench.run(
    "story",
    { "*": [{ verdict: "approved", payload: { ...PLAN, approved: true, review_notes: "" } }] },
    {
      subject: STORY,
      wait: false,
      facts: {
        config: { checks: { test: check(bench.dir, "fs.existsSync('try-2.txt')") } },
        runners: { implementer: ["/bin/sh", "-c", work] },
      },
    },
  );
  const handOver = async (attempt: number) => {
    const file = `${token}-${attempt}`;
    const own = await until("its token", () => (existsSync(file) ? readFileSync(file, "utf8") : undefined));
    const holder = bench.passrail.engine.attemptOf(own);
    if (holder === undefined) throw new Error("nobody holds the token");
    served.attempts.set(own, holder);
    const body = { action: "create", storyId: STORY, fromAgent: "implementer", toAgent: "reviewer", payload: CODE };
    const answer = await served.call("POST", "/api/handoffs", { body, token: own });
    writeFileSync(`${file}.answered`, "");
    return answer;
  };
  expect((await handOver(1)).status).toBe(200);
  const first = (await bench.events(run.id)).findLast((event) => event.type === "stage.finished");
  expect(first?.type === "stage.finished" ? first.outcome : null).toMatchObject({
    verdict: "revise",
    contradicted: true,
  });
  expect((await handOver(2)).status).toBe(200);
  await bench.passrail.engine.idle();
  const events = await bench.events(run.id);
  expect(checksOf(events).slice(0, 2)).toEqual(["implementer#1 test:failed", "implementer#2 test:passed"]);
  expect((await bench.load(run.id)).status).toBe("completed");
});
