// The shipped flows pass the check, and the check finds a fault planted in a copy of any of them.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { checkFlow } from "../core/check/check-flow.ts";
import type { FileProblem } from "../core/check/problem.ts";
import { loadCatalog } from "./catalog.ts";
import { readYaml } from "../file/yaml.ts";

const shippedDir = join(import.meta.dirname, "../..");
const NAMES = [
  "build-plan-complex",
  "build-plan-simple",
  "build-plan-standard",
  "checklist",
  "feature",
  "intake",
  "land",
  "quick",
  "routed",
  "story",
  "ticket",
];
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

const textOf = (name: string): string => readFileSync(join(shippedDir, "flows", `${name}.yaml`), "utf8");

/** Puts a changed copy of a shipped flow into a project and checks it there. */
function planted(name: string, from: string, to: string): readonly FileProblem[] {
  const text = textOf(name);
  if (!text.includes(from)) throw new Error(`${name} does not hold ${from}`);
  const projectDir = mkdtempSync(join(tmpdir(), "passrail-flow-"));
  folders.push(projectDir);
  mkdirSync(join(projectDir, ".passrail/flows"), { recursive: true });
  writeFileSync(join(projectDir, ".passrail/flows", `${name}.yaml`), text.replace(from, to));
  const result = loadCatalog({ shippedDir, projectDir }).requireFlow(name);
  return result.ok ? result.value.problems : result.error;
}

test("R-X-01: the eight flows of the sources are shipped, with the default for a task, the one that goes through a plan row by row and the one that lands their work", () => {
  expect(
    loadCatalog({ shippedDir })
      .listFlows()
      .map(({ name }) => name),
  ).toEqual(NAMES);
});

test.each(NAMES)(
  "R-X-01: %s passes the check, resolves, and warns only where it says itself that it has no gate",
  (name) => {
    const catalog = loadCatalog({ shippedDir });
    const checked = catalog.requireFlow(name);
    if (!checked.ok) throw new Error(JSON.stringify(checked.error, null, 2));
    expect(checked.value.problems.map(({ code }) => code)).toEqual(
      checked.value.file.allow_ungated === true ? ["flow_ungated"] : [],
    );
    expect(catalog.resolve(name)).toMatchObject({ ok: true, value: { hash: expect.stringMatching(/^[0-9a-f]{64}$/) } });
  },
);

test("R-004-05: every status that starts a ticket has a stage, and every stage a prompt that exists", () => {
  const catalog = loadCatalog({ shippedDir });
  const resolved = catalog.resolve("ticket");
  if (!resolved.ok) throw new Error(JSON.stringify(resolved.error));
  const { flow, prompts } = resolved.value;
  expect(Object.keys(flow.enter)).toEqual([
    "Backlog",
    "Needs Research",
    "Needs Spec",
    "Needs Plan",
    "Needs Implement",
    "Needs Validate",
  ]);
  for (const stage of flow.stages) {
    if (stage.kind === "builtin" || (stage.kind === "agent" && stage.options?.runner === "outside")) continue;
    if (stage.kind !== "agent") throw new Error(`${stage.id} is no agent`);
    expect(prompts[stage.promptFile ?? ""]).toBeTypeOf("string");
  }
});

test("decision 1: every review loop has three attempts", () => {
  const loops = NAMES.flatMap((name) => {
    const checked = loadCatalog({ shippedDir }).requireFlow(name);
    const counters = checked.ok ? checked.value.flow.counters : {};
    return Object.entries(counters).map(([counter, { maxLoops }]) => [name, counter, maxLoops]);
  });
  expect(loops).toEqual([
    ["build-plan-complex", "review", 2],
    ["build-plan-complex", "dod", 5],
    ["build-plan-complex", "test", 2],
    ["build-plan-complex", "ci", 2],
    ["build-plan-complex", "checks", 3],
    ["build-plan-simple", "review", 0],
    ["build-plan-simple", "ci", 2],
    ["build-plan-simple", "checks", 3],
    ["build-plan-standard", "review", 2],
    ["build-plan-standard", "dod", 5],
    ["build-plan-standard", "test", 2],
    ["build-plan-standard", "ci", 2],
    ["build-plan-standard", "checks", 3],
    ["checklist", "review", 2],
    ["checklist", "rows", 30],
    ["feature", "revision", 2],
    ["feature", "ci", 2],
    ["feature", "checks", 3],
    ["intake", "clarify", 3],
    ["quick", "checks", 3],
    ["quick", "review", 2],
    ["quick", "ci", 2],
    ["routed", "review", 2],
    ["story", "review", 2],
    ["story", "checks", 3],
    ["ticket", "validate", 2],
    ["ticket", "ci", 3],
    ["ticket", "checks", 3],
  ]);
});

describe("R-X-02: planted faults are found, with their line", () => {
  test.each([
    ["feature", "subject: feature", "subjct: feature", "unknown_field"],
    ["feature", "agent: IN5", "agent: IN9", "unknown_agent"],
    ["feature", "agent: IN1, ", "", "agent_missing"],
    ["feature", "id: design", "id: spec", "duplicate_stage"],
    [
      "feature",
      "revise: { goto: build, counter: revision",
      "revise: { goto: biuld, counter: revision",
      "flow_graph_invalid",
    ],
    ["feature", "counter: revision, carry", "counter: revisions, carry", "unknown_counter"],
    ["feature", "counter: revision, ", "", "loop_without_limit"],
    ["feature", "max_loops: 2", "max_loops: 21", "invalid_number"],
    ["feature", "on_exhausted: escalate", "on_exhausted: escalat", "exhaustion_not_routed"],
    ["feature", "[SHIP, REVISE, REJECT]", "[SHIP, REVIEW, REJECT]", "unknown_verdict_word"],
    ["feature", "timeout: 30m", "timeout: 30 minutes", "invalid_duration"],
    [
      "feature",
      "approve: { goto: next, status: approved }",
      "approved: { goto: next, status: approved }",
      "gate_without_approve",
    ],
    [
      "feature",
      "    kind: gate\n    who: owner\n    status: review",
      "    agent: in6\n    status: review",
      "flow_ungated",
    ],
    ["feature", "require: [verdict, agent]", "require: &r [verdict, agent]", "yaml_alias_not_allowed"],
    ["routed", 'goto: "agent:builder"', 'goto: "agent:biulder"', "flow_graph_invalid"],
    ["routed", "else: prev, counter: review, ", "else: prev, ", "loop_without_limit"],
    ["routed", "from: [input.agent, route.stages]", "from: [input.agent, rout.stages]", "unknown_stage"],
    [
      "routed",
      "result: { from: file-verdict, path: .brain/REVIEW.md",
      "result: { from: file-verdict, path: ../REVIEW.md",
      "unsafe_path",
    ],
    ["routed", 'when: "not input.agent"', 'when: "!input.agent"', "invalid_condition"],
    ["routed", "revise: [5, 7]", "revise: [5, 8]", "score_ranges_overlap"],
    ["build-plan-standard", "do: bundles", "do: bundle", "unknown_builtin"],
    ["build-plan-standard", "revise: { goto: dev, counter: test", "revise: { goto: dev", "loop_without_limit"],
    ["build-plan-standard", "dod: { max_loops: 5, ", "dod: { max_attempts: none, ", "loop_without_limit"],
    ["build-plan-standard", "dod: { max_loops: 5, ", "dod: { same_issues: 3, ", "removed_field"],
    ["build-plan-standard", "resets: [review, dod]", "resets: [review, test]", "loop_without_limit"],
    ["build-plan-standard", "    model: haiku\n", "", "model_missing"],
    [
      "build-plan-standard",
      "kind: gate\n    who: human\n    status: merge question",
      "agent: tester\n    model: opus\n    status: merge question",
      "flow_ungated",
    ],
    ["build-plan-simple", "last('dev-test')", "last('dev')", "unknown_stage"],
    ["build-plan-simple", "inline: [dod-gate]", "inline: [dod]", "unknown_prompt"],
    ["build-plan-simple", "accept: next, abort: cancel", "accept: nxt, abort: cancel", "flow_graph_invalid"],
    ["build-plan-complex", "join: all-passed", "join: [be]", "invalid_join"],
    ["build-plan-complex", "join: all-passed", "join: [be, fe, ops]", "invalid_join"],
    [
      "build-plan-complex",
      "revise: { goto: be-dev, counter: review",
      "revise: { goto: fe-dev, counter: review",
      "flow_graph_invalid",
    ],
    ["build-plan-complex", "revise: { goto: tracks, only", "revise: { goto: be-dev, only", "flow_graph_invalid"],
    ["build-plan-complex", 'dir: "{plan.backend_dir}"', 'dir: "/srv"', "unsafe_path"],
    ["story", "allow_ungated: true", "allow_ungated: false", "flow_ungated"],
    ["story", "route: { revise: escalate }", "route: { revise: prev }", "flow_graph_invalid"],
    ["intake", "goto: stop, carry", "goto: self, carry", "loop_without_limit"],
    ["intake", "on_exhausted: force", "on_exhausted: forced", "exhaustion_not_routed"],
    ["intake", '"TICKETS:": TICKETS', '"TICKETS:": TICKET', "unknown_verdict_word"],
    ["ticket", "prompt_file: agent2-worker-plan", "prompt_file: agent2-worker-plam", "unknown_prompt"],
    ["ticket", "Needs Plan: plan", "Needs Plan: plans", "unknown_stage"],
    ["ticket", "- { stage: research }", "- { stage: research, whn: x }", "unknown_field"],
    ["ticket", "stage: oneshot }", "stage: research }", "flow_graph_invalid"],
    ["ticket", "fragments: { auto: merge-auto", "fragments: { auto: merge-atuo", "unknown_prompt"],
    ["ticket", "title: Ticket", "title: sk-0123456789abcdef0123 Ticket", "secret_in_config"],
  ])("%s: %s -> %s", (name, from, to, code) => {
    const problems = planted(name, from, to);
    expect(problems.map((problem) => problem.code)).toContain(code);
    const found = problems.find((problem) => problem.code === code);
    expect(found?.file.endsWith(`.passrail/flows/${name}.yaml`)).toBe(true);
    expect(found?.line).toBeGreaterThan(0);
  });

  test("the line and the text are those of the fault", () => {
    const [problem] = planted("feature", "agent: IN5", "agent: IN55");
    const line =
      textOf("feature")
        .split("\n")
        .findIndex((text) => text.includes("agent: IN5")) + 1;
    expect(problem).toMatchObject({ code: "unknown_agent", line, column: 19, hint: 'did you mean "in5"?' });
    expect(problem?.text).toContain("agent: IN55");
  });

  test("several faults are told together, in the order of the file", () => {
    const problems = planted("feature", "agent: IN1", "agent: IN0, timeout: never");
    expect(problems.map(({ code }) => code).sort()).toEqual(["invalid_duration", "unknown_agent"]);
  });
});

test("R-002-58: a developer's text without its sections fails the check of the flows that use it", () => {
  const projectDir = mkdtempSync(join(tmpdir(), "passrail-flow-"));
  folders.push(projectDir);
  mkdirSync(join(projectDir, ".passrail/agents"), { recursive: true });
  writeFileSync(join(projectDir, ".passrail/agents/developer.md"), "---\nname: developer\n---\nJust code.\n");
  const result = loadCatalog({ shippedDir, projectDir }).requireFlow("build-plan-standard");
  if (result.ok) throw new Error("expected a refusal");
  expect(result.error.map(({ code, message }) => `${code} ${message}`)).toEqual([
    expect.stringMatching(/^prompt_contract_broken .*## DoD coverage/),
    expect.stringMatching(/^prompt_contract_broken .*## Quality-Gate Results/),
  ]);
});

test("the example of the guide passes the check", () => {
  const guide = readFileSync(join(shippedDir, "docs/flows.md"), "utf8");
  const example = guide.split("```yaml\n")[1]?.split("```")[0] ?? "";
  const yaml = readYaml(example, { file: "docs/flows.md", subject: "flow" });
  if (!yaml.ok) throw new Error(JSON.stringify(yaml.error));
  const check = checkFlow(yaml.value.value, {
    agents: new Set(["builder", "reviewer"]),
    prompts: new Set(),
    builtins: new Set(),
  });
  expect(check).toMatchObject({ ok: true, warnings: [] });
});
