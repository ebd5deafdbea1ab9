// Source 000's record of a feature over real runs: what a table or a board would show at each moment.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { RunEvent } from "../../../src/core/run/event.ts";
import { evolve } from "../../../src/core/run/evolve.ts";
import { featureRecord } from "../../../src/core/view/feature.ts";
import { openItems, type Run } from "../../../src/core/run/run.ts";
import { openWorkbench, resolveShipped, type Workbench } from "../../harness/workbench.ts";

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.close());

const { flow } = resolveShipped("feature");
const say = (verdict: string, issues: readonly string[] = []) => ({ via: "json-tail", verdict, issues });
const script = {
  spec: [say("APPROVED")],
  design: [say("APPROVED")],
  build: [say("COMPLETE")],
  qa: [say("REVISE", ["too slow"]), say("SHIP")],
};

function recordOf(events: readonly RunEvent[]) {
  let run: Run | undefined;
  for (const event of events) run = evolve(run, event);
  if (run === undefined) throw new Error("no events");
  return featureRecord(flow, events, run);
}

/** The record as it was after each stored change, without repeats of status and agent. */
function history(events: readonly RunEvent[]): readonly string[] {
  const shown: string[] = [];
  for (let end = 1; end <= events.length; end++) {
    if (end < events.length && events[end]?.at === events[end - 1]?.at) continue;
    const { status, current_agent: agent, revision_count: count } = recordOf(events.slice(0, end));
    const line = `${status} ${agent ?? "-"} ${count}`;
    if (shown.at(-1) !== line) shown.push(line);
  }
  return shown;
}

test("R-000-31, R-000-32, R-000-34: status, agent and count change together, at each handoff", async () => {
  let run = await bench.run("feature", script);
  await bench.answer(run, "gate", "approve");
  run = await bench.load(run.id);
  await bench.answer(run, "gate", "approve");
  const events = await bench.events(run.id);
  expect(history(events)).toEqual([
    "pending - 0",
    "speccing IN1 0",
    "designing IN5 0",
    "building IN2 0",
    "qa IN6 0",
    "building IN2 1",
    "qa IN6 1",
    "review - 1",
    "shipped - 1",
  ]);
  run = await bench.load(run.id);
  expect(recordOf(events)).toEqual(featureRecord(flow, events, run));
});

test("R-000-33: the log of a run has every handoff, verdict and answer, with times in order", async () => {
  let run = await bench.run("feature", script);
  await bench.answer(run, "gate", "approve");
  run = await bench.load(run.id);
  await bench.answer(run, "gate", "approve");
  const { pipeline_log: log } = recordOf(await bench.events(run.id));
  const verdicts = log.filter(({ verdict }) => verdict !== "HANDOFF");
  expect(
    verdicts.map(({ agent, stage, verdict, issues = [], revision_loop: loop = 0 }) => [
      agent,
      stage,
      verdict,
      issues,
      loop,
    ]),
  ).toEqual([
    ["human:tester", "start", "approve", [], 0],
    ["IN1", "spec", "APPROVED", [], 0],
    ["IN5", "design", "APPROVED", [], 0],
    ["IN2", "build", "COMPLETE", [], 0],
    ["IN6", "qa", "REVISE", ["too slow"], 0],
    ["IN2", "build", "COMPLETE", [], 1],
    ["IN6", "qa", "SHIP", [], 1],
    ["human:tester", "ship", "approve", [], 0],
  ]);
  const times = log.map(({ timestamp }) => timestamp);
  expect(times).toEqual(times.toSorted());
  for (const time of times) expect(time).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/u);
});

test("R-000-32: nobody is shown at work after an escalation and after cancel", async () => {
  let run = await bench.run("feature", { ...script, spec: [say("REJECT", ["unclear"])] });
  await bench.answer(run, "gate", "approve");
  run = await bench.load(run.id);
  expect(recordOf(await bench.events(run.id))).toMatchObject({ status: "escalated", current_agent: null });
  await bench.answer(run, "escalation", "cancel");
  const record = recordOf(await bench.events(run.id));
  expect(record).toMatchObject({ status: "canceled", current_agent: null });
  expect(record.pipeline_log.map(({ verdict }) => verdict)).toEqual([
    "approve",
    "HANDOFF",
    "REJECT",
    "ESCALATED",
    "cancel",
  ]);
});

test("R-000-21 R-000-29 R-000-33: after a person's again the loop starts anew in prompt, log and card, and the log has what people wrote", async () => {
  const revise = (issue: string) => say("REVISE", [issue]);
  // The agents play by their loop: after the person's answer they begin anew, and the loop is spent a second time.
  const qa = [revise("one"), revise("two"), revise("three")];
  let run = await bench.run("feature", { ...script, qa });
  await bench.answer(run, "gate", "approve", "go");
  run = await bench.load(run.id);
  await bench.answer(run, "escalation", "again", "mind the cache");
  run = await bench.load(run.id);
  expect(openItems(run)).toMatchObject([{ kind: "escalation", stage: "qa", number: 3 }]);
  const record = recordOf(await bench.events(run.id));
  expect(record.revision_count).toBe(2);
  const rows = record.pipeline_log
    .filter(({ stage, verdict }) => stage === "build" && verdict === "COMPLETE")
    .map(({ revision_loop: loop = 0 }) => loop);
  expect(rows).toEqual([0, 1, 2, 0, 1, 2]);
  const said = record.pipeline_log.flatMap(({ agent, verdict, comment }) =>
    comment === undefined ? [] : [[agent, verdict, comment]],
  );
  expect(said).toEqual([
    ["human:tester", "approve", "go"],
    ["human:tester", "again", "mind the cache"],
  ]);
  const prompt = (attempt: number): string =>
    readFileSync(join(bench.home, "runs", run.id, `build-${attempt}`, "prompt.md"), "utf8");
  expect(prompt(3)).toContain("loop 2 of 2");
  expect(prompt(4)).not.toMatch(/loop \d of 2/u);
  expect(prompt(4)).toContain("three");
  expect(prompt(4)).toContain("mind the cache");
  expect(prompt(5)).toContain("loop 1 of 2");
});
