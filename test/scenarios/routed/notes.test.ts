// The shared notes of source 001 from run to run, and the plan that is worked on row by row. Real processes, real files, real store.

import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { RunEvent } from "../../../src/core/run/event.ts";
import { openWorkbench, resolveShipped, type Workbench } from "../../harness/workbench.ts";

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench({ workspace: "in-place" });
});
afterEach(() => bench.close());

const brain = (name: string) => join(bench.project, ".brain", name);
const read = (path: string) => readFileSync(path, "utf8");
const startedOf = (events: readonly RunEvent[]) =>
  events.flatMap((event) => (event.type === "stage.started" ? [event.stage] : []));
const route = (...agents: readonly string[]) => [
  { via: "text", text: JSON.stringify(agents.map((agent) => ({ agent, teams: false }))) },
];
const BUILDER = [{ via: "text", text: "built", write: { "a.txt": "1" }, commit: true }];
const REVIEWER = [{ via: "review-file", text: "Verdict: APPROVE\n" }];
const ARCHITECT = [{ via: "text", text: "planned", write: { ".brain/PLAN.md": "the plan" } }];
const promptOf = (run: string, stage: string, attempt = 1) =>
  read(join(bench.home, "runs", run, `${stage}-${attempt}`, "prompt.md"));

test("research and plan of an earlier task are set aside and kept; the project's notes tell the new task", async () => {
  const all = { architect: ARCHITECT, builder: BUILDER, reviewer: REVIEWER };
  const first = await bench.run(
    "routed",
    { ...all, route: route("architect", "builder", "reviewer") },
    { title: "Sell tea" },
  );
  expect(first.status).toBe("completed");
  expect(read(brain("PROJECT.md"))).toContain("Sell tea");
  writeFileSync(brain("RESEARCH.md"), "old research\n");
  const second = await bench.run(
    "routed",
    { ...all, route: route("builder", "reviewer") },
    { subject: "F-2", title: "Sell coffee" },
  );
  expect(second.status).toBe("completed");
  expect(existsSync(brain("PLAN.md"))).toBe(false);
  expect(existsSync(brain("RESEARCH.md"))).toBe(false);
  expect(read(brain(`earlier/${second.id}/PLAN.md`))).toContain("the plan");
  expect(read(brain(`earlier/${second.id}/RESEARCH.md`))).toContain("old research");
  expect(read(brain("PROJECT.md"))).toContain("Sell coffee");
  expect(read(brain("PROJECT.md"))).not.toContain("Sell tea");
});

test("what a run wrote itself stays for its later stages, also after a restart in the middle", async () => {
  const flow = resolveShipped("routed");
  const builder = [{ via: "text", text: "x", idle: true, exit: 3 }];
  const script = {
    architect: ARCHITECT,
    builder,
    reviewer: REVIEWER,
    route: route("architect", "builder", "reviewer"),
  };
  const run = await bench.run(flow, script, { title: "Sell tea" });
  expect(run.status).toBe("stopped");
  await bench.restart();
  await bench.passrail.engine.deliver(run.id, { type: "retry.requested", note: "" }, "human:t");
  await bench.passrail.engine.idle(run.id);
  expect(startedOf(await bench.events(run.id))).toEqual(["route", "architect", "builder", "builder"]);
  expect(read(brain("PLAN.md"))).toContain("the plan");
});

const PLAN = "# Plan\n\n- [ ] the first row\n- [x] done before\n- [ ] the second row\n";

test("R-001-44: a fresh builder and reviewer work on each row, and it is checked when the reviewer approves", async () => {
  const plan = [{ via: "text", text: "planned", write: { ".brain/PLAN.md": PLAN } }];
  const review = [
    { via: "review-file", text: "Verdict: REVISE\nthe name is wrong\n" },
    { via: "review-file", text: "Verdict: APPROVE\n" },
  ];
  const run = await bench.run("checklist", { plan, build: BUILDER, review });
  const events = await bench.events(run.id);
  expect(startedOf(events)).toEqual([
    "plan",
    "rows",
    "build",
    "review",
    "build",
    "review",
    "rows",
    "build",
    "review",
    "build",
    "review",
    "rows",
  ]);
  expect(run.status).toBe("completed");
  expect(read(brain("PLAN.md"))).toContain("- [x] the first row\n- [x] done before\n- [x] the second row\n");
  expect(promptOf(run.id, "build", 1)).toContain("the first row");
  expect(promptOf(run.id, "build", 1)).not.toContain("revision loop");
  expect(promptOf(run.id, "build", 2)).toContain("the name is wrong");
  // The second row begins with a full budget of revisions, and without the issues of the first.
  expect(promptOf(run.id, "build", 3)).toContain("the second row");
  expect(promptOf(run.id, "build", 3)).not.toContain("revision loop");
  expect(run.counters["rows"]).toMatchObject({ loops: 2 });
});

test.each([
  ["no file", undefined, "did not write .brain/PLAN.md"],
  ["no boxes", "# Plan\n\n1. build it\n", "no rows with a check box"],
])("R-001-44: a plan with %s stops the run and says so", async (_, text, why) => {
  const plan = [{ via: "text", text: "planned", ...(text === undefined ? {} : { write: { ".brain/PLAN.md": text } }) }];
  const run = await bench.run("checklist", { plan, build: BUILDER, review: REVIEWER });
  expect(run).toMatchObject({ status: "stopped", reason: expect.stringContaining(why) });
});

test("R-001-44: the rounds are bounded: a plan that grows for ever ends with a reason", async () => {
  mkdirSync(brain(""), { recursive: true });
  const rows = Array.from({ length: 3 }, (_, n) => `- [ ] row ${n}`).join("\n");
  const resolved = resolveShipped("checklist");
  const stages = resolved.flow.stages.map((stage) =>
    stage.id === "rows" && "settings" in stage ? { ...stage, settings: { ...stage.settings, max: 2 } } : stage,
  );
  const plan = [{ via: "text", text: "planned", write: { ".brain/PLAN.md": rows } }];
  const bounded = { ...resolved, flow: { ...resolved.flow, stages }, hash: `${resolved.hash.slice(0, 60)}0002` };
  const run = await bench.run(bounded, { plan, build: BUILDER, review: REVIEWER });
  expect(run).toMatchObject({ status: "stopped", reason: expect.stringContaining("the flow allows 2; 1 are left") });
  expect(startedOf(await bench.events(run.id)).filter((stage) => stage === "build")).toHaveLength(2);
});
