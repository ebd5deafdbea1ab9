// A stage whose agent fails or cannot be started is an item with its cause, and can be tried again with another agent.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { runnerChoiceOf } from "../../../src/core/flow/runner-choice.ts";
import { openItems } from "../../../src/core/run/run.ts";
import { findWork } from "../../../src/core/run/sequence.ts";
import { openWorkbench, resolveShipped, type Workbench } from "../../harness/workbench.ts";
import { happyFeature } from "../cli/bench.ts";

vi.setConfig({ testTimeout: 120_000 });

const PLAYER = join(import.meta.dirname, "../../fixtures/player/play.mjs");
let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.close());

test("a stage that never started offers no accept, and goes on with another agent that keeps its options", async () => {
  const missing = { command: [join(bench.dir, "no-such-agent")], permission: "read" };
  let run = await bench.run("feature", happyFeature, { facts: { runners: { IN1: missing } } });
  await bench.answer(run, "gate", "approve");
  run = await bench.load(run.id);
  const [item] = openItems(run);
  expect(item).toMatchObject({ kind: "escalation", stage: "spec", choices: { again: "again", cancel: "cancel" } });
  expect(item?.kind === "escalation" ? Object.keys(item.choices) : []).not.toContain("accept");
  expect(item?.kind === "escalation" ? item.reason : "").toContain("no-such-agent");
  expect(bench.notices.at(-1)).toMatchObject({ event: "escalation", item: `${run.id}.2` });
  expect(bench.notices.at(-1)?.text).toContain("no-such-agent");

  const { app } = bench.passrail;
  const sent = { actor: "human:tester" } as const;
  const retry = (agents: readonly string[]) =>
    app.controlRun(run.id, { type: "retry", note: "", with: { agents } }, sent);
  expect(await retry(["speck=claude"])).toMatchObject({
    ok: false,
    error: { code: "action_refused", message: expect.stringContaining('no stage or agent "speck"') },
  });
  const model = (agents: readonly string[], models: readonly string[]) =>
    app.controlRun(run.id, { type: "retry", note: "", with: { agents, models } }, sent);
  expect(await model([], ["speck=opus"])).toMatchObject({ ok: false, error: { code: "action_refused" } });
  expect(await model([], ["spec=opus"])).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining("no agent with a model plays spec") },
  });
  expect(await model(["spec=codex"], ["in1=claude-sonnet-4-5"])).toMatchObject({
    ok: false,
    error: { message: expect.stringContaining("codex plays IN1 and does not take the model") },
  });
  const script = join(bench.dir, "script.json");
  writeFileSync(script, JSON.stringify(happyFeature));
  expect(await retry([`in1=${process.execPath} ${PLAYER} ${script}`])).toMatchObject({
    ok: true,
    value: { changed: true },
  });
  await bench.passrail.engine.idle();
  run = await bench.load(run.id);
  expect(openItems(run)).toMatchObject([{ kind: "gate", stage: "ship" }]);
  const resolved = resolveShipped("feature");
  const spec = findWork(resolved.flow, run, "main", "spec");
  const choice = spec === undefined ? undefined : runnerChoiceOf(resolved, run.facts, spec);
  expect(choice).toMatchObject({ command: [process.execPath, PLAYER, script], options: { permission: "read" } });
  expect((await bench.events(run.id)).filter(({ type }) => type === "runners.chosen")).toMatchObject([
    { actor: "human:tester", runners: { IN1: {} } },
  ]);
});

test("R-000-21: notices of gates and escalations carry title, last report, loop count and the item to answer", async () => {
  const qa = { via: "json-tail", verdict: "REVISE", summary: "Two tests are red.", issues: ["login fails"] };
  let run = await bench.run(
    "feature",
    {
      ...happyFeature,
      qa: [qa, { ...qa, issues: ["logout fails"] }, { via: "json-tail", verdict: "REJECT", summary: "Give up." }],
    },
    { title: "Add login" },
  );
  await bench.answer(run, "gate", "approve");
  run = await bench.load(run.id);
  const notice = bench.notices.at(-1);
  expect(notice).toMatchObject({ event: "escalation", to: "owner", item: `${run.id}.2`, runId: run.id });
  expect(notice?.text).toContain("F-1: qa was escalated");
  expect(notice?.text).toContain("Add login");
  expect(notice?.text).toContain("Last report: qa REJECT, Give up.");
  expect(notice?.text).toContain("Loops: revision 2 of 2");
});
