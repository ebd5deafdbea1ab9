// Green means green, done means work: only the flow's own program makes a check pass, its output reaches the builder, and a stage that must
// produce work fails if it changed nothing.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { ROUTES } from "../../../src/http/contract/routes.ts";
import type { ResolvedFlow } from "../../../src/core/flow/agent.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { resolveShipped, type Script, verdictsOf } from "../../harness/workbench.ts";
import { type Served, serve } from "../http/served.ts";

let served: Served;
beforeEach(async () => {
  served = await serve();
});
afterEach(() => served.close());

/** A flow with words of its own, as the shipped ones have; its check is the program of one line. */
function checked(program: string, route = "{ revise: { goto: build, counter: fix, carry: [issues] } }"): ResolvedFlow {
  const folder = join(served.bench.project, ".passrail", "flows");
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "checked.yaml"),
    `
flow: checked
version: 1
subject: ticket
words: { verdict: { SHIP: pass, REVISE: revise }, health: { complete: complete }, unknown_health: complete }
counters: { fix: { max_loops: 1 } }
stages:
  - { id: build, agent: builder, result: { from: verdict-file }, prompt: [ticket, revision-context] }
  - { id: tests, agent: tester, command: [sh, -c, ${JSON.stringify(program)}], result: { from: exit-code }, route: ${route} }
  - { id: ship, kind: gate, who: human, route: { approve: end, decline: { goto: end, status: canceled } } }
`,
  );
  return resolveShipped("checked", served.bench.project);
}

const SHIPPED: Script = { "*": [{ verdict: "SHIP", write: { "a.txt": "1" } }] };

async function evidenceOf(flow: ResolvedFlow, script: Script, facts: JsonObject = {}) {
  const run = await served.bench.run(flow, script, { facts });
  const { body } = await served.call("GET", `/api/inbox/${run.id}.${run.items}`);
  return { run, evidence: ROUTES.showItem.answer.schema.parse(body).evidence.stages };
}

describe("a check", () => {
  test("S07: passes with exit code 0 in a flow with its own words, and is named as a check with its command", async () => {
    const { run, evidence } = await evidenceOf(checked("test -f a.txt"), SHIPPED);
    expect(run).toMatchObject({ status: "waiting" });
    expect(evidence.at(-1)).toMatchObject({ by: "check", command: "sh -c test -f a.txt", replaced: null, exitCode: 0 });
  });

  test("S07: is not replaced by a word for all agents, and its output reaches the builder as an issue", async () => {
    const log = join(served.bench.dir, "prompts");
    const script: Script = { "*": [{ verdict: "SHIP", write: { "a.txt": "1" }, log }] };
    const flow = checked("echo 7 tests; echo assertion-17 broke >&2; exit 3");
    const run = await served.bench.run(flow, script);
    const events = await served.bench.events(run.id);
    expect(verdictsOf(events)).toEqual(["build:SHIP", "tests:revise", "build:SHIP", "tests:revise"]);
    expect(run).toMatchObject({ status: "waiting", items: 1 });
    const finished = events.find((event) => event.type === "stage.finished" && event.stage === "tests");
    expect(JSON.stringify(finished)).toMatch(/exit code 3.*7 tests.*assertion-17 broke/u);
    const prompt = await served.call("GET", `/api/runs/${run.id}/attempts/build/2/prompt`);
    expect(JSON.stringify(prompt.body)).toContain("assertion-17 broke");
  });

  test("S07: that could not run has failed, and the failure carries its output too", async () => {
    const flow = checked(
      "no-such-program-17",
      "{ revise: { goto: build, counter: fix }, failed: { goto: build, counter: fix, carry: [issues] } }",
    );
    const run = await served.bench.run(flow, SHIPPED);
    const events = await served.bench.events(run.id);
    expect(verdictsOf(events).slice(0, 2)).toEqual(["build:SHIP", "tests:failed"]);
    expect(JSON.stringify(events)).toMatch(/The check .{2,4}tests.{2,4} ended with exit code 127.*no-such-program-17/u);
  });

  test("S07: that was replaced by name is no check, and the gate says so", async () => {
    const { run, evidence } = await evidenceOf(checked("exit 1"), SHIPPED, { runners: { tests: ["true"] } });
    expect(evidence.at(-1)).toMatchObject({ by: "agent", command: "true", replaced: "sh -c exit 1" });
    expect(evidence.at(-1)?.warnings.join()).toContain("check_replaced");
    expect(JSON.stringify(run.tracks)).toContain("tests does not run the flow's own command (sh -c exit 1)");
  });
});

describe("a stage that must produce work", () => {
  const feature = (build: readonly JsonObject[], more: Script = {}): Script => ({
    spec: [{ via: "json-tail", verdict: "APPROVED" }],
    design: [{ via: "json-tail", verdict: "APPROVED" }],
    build,
    qa: [{ via: "json-tail", verdict: "SHIP" }],
    ...more,
  });
  const idle = { via: "json-tail", verdict: "COMPLETE", idle: true };

  async function play(script: Script) {
    const run = await served.bench.run("feature", script);
    await served.bench.answer(run, "gate", "approve");
    return { run: await served.bench.load(run.id), events: await served.bench.events(run.id) };
  }

  test("S07: fails with a reason if it changed nothing, whatever its agent says", async () => {
    const { run, events } = await play(feature([idle]));
    expect(verdictsOf(events).at(-1)).toBe("build:failed");
    expect(JSON.stringify(run.tracks)).toContain("IN2 did not write any change (a commit or a diff)");
  });

  test("S07: passes again without a further change if an earlier attempt left the work", async () => {
    const revised = {
      qa: [
        { via: "json-tail", verdict: "REVISE", issues: ["no"] },
        { via: "json-tail", verdict: "SHIP" },
      ],
    };
    const { run, events } = await play(feature([{ ...idle, idle: false, write: { "a.txt": "1" } }, idle], revised));
    expect(verdictsOf(events).slice(-2)).toEqual(["build:COMPLETE", "qa:SHIP"]);
    expect(run.status).toBe("waiting");
  });
});
