// Source 002 fails closed: a report that passes without a judgement, without its sections, or against its own words advances nothing, and
// its reason says which words and which file.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import type { Outcome } from "../../../src/core/flow/outcome.ts";
import type { Run } from "../../../src/core/run/run.ts";
import { APPROVED, each, handoffText, hands } from "../../harness/handoff-text.ts";
import { openWorkbench, type Script, type Workbench } from "../../harness/workbench.ts";

let bench: Workbench;
beforeAll(async () => {
  bench = await openWorkbench();
});
afterAll(() => bench.close());

const happy: Script = {
  dev: [hands()],
  dod: [APPROVED],
  review: [APPROVED],
  test: [APPROVED],
  "update-specs": [hands()],
};
const writes = (text: string, more: JsonObject = {}): JsonObject => ({ via: "handoff-file", text, ...more });
const handoffOf = (run: Run, attempt: string) => join(bench.home, "runs", run.id, attempt, "result/handoff.md");

async function build(script: Script): Promise<Run> {
  const run = await bench.run("build-plan-standard", { ...happy, ...script });
  await bench.answer(run, "gate", "approve");
  return bench.load(run.id);
}

async function outcomeOf(run: Run, stage: string): Promise<Outcome | undefined> {
  const event = (await bench.events(run.id)).findLast((each) => each.type === "stage.finished" && each.stage === stage);
  return event?.type === "stage.finished" ? event.outcome : undefined;
}

const approving = (change: (text: string) => string) => writes(change(handoffText({ verdict: "APPROVED" })));
const UNMET = "- ✗ the other thing exists — nowhere";
const unmet = (text: string) => text.replace("## DoD coverage\n", `## DoD coverage\n\n${UNMET}\n`);

describe("R-002-47: a judge that does not judge, or that contradicts itself, does not pass", () => {
  test.each<[string, string, JsonObject, string, string]>([
    [
      "a reviewer with the verdict n/a",
      "review",
      hands({ findings: ["critical: SQL injection"] }),
      "verdict_unknown",
      '"n/a" is not a verdict',
    ],
    [
      "a DoD checker with the verdict n/a",
      "dod",
      hands({ gaps: ["row 2 is missing"] }),
      "verdict_unknown",
      '"n/a" is not a verdict',
    ],
    [
      "APPROVED with open gaps",
      "dod",
      hands({ verdict: "APPROVED", gaps: ["row 2", "row 3"] }),
      "verdict_contradicted",
      "it lists 2 open gaps",
    ],
    [
      "APPROVED with a row that is not met",
      "dod",
      approving(unmet),
      "verdict_contradicted",
      "✗ (the other thing exists)",
    ],
    [
      "APPROVED with a critical finding",
      "review",
      hands({ verdict: "APPROVED", findings: ["critical: SQL injection"] }),
      "verdict_contradicted",
      "SQL injection",
    ],
    [
      "APPROVED with a finding below Critical",
      "review",
      approving((text) => text.replace("## Findings\n", "## Findings\n\n### Critical\n\n- the door is open\n")),
      "verdict_contradicted",
      "the door is open",
    ],
    [
      "a tester that approves with failures",
      "test",
      approving((text) => `${text}\n## Failures\n\n- login.test.ts: expected 200\n`),
      "verdict_contradicted",
      "it lists 1 failure",
    ],
  ])("%s", async (_, stage, outcome, cause, reason) => {
    const run = await build({ [stage]: [outcome] });
    expect(run).toMatchObject({ status: "stopped", word: "failed", stages: { [stage]: { attempts: 1 } } });
    expect(await outcomeOf(run, stage)).toMatchObject({
      health: "failed",
      cause,
      reason: expect.stringContaining(reason),
    });
    expect(run.stages["update-specs"]).toBeUndefined();
    expect(run).toMatchObject({ reason: expect.stringContaining(handoffOf(run, `${stage}-1`)) });
  });

  test("minor findings and remarks do not contradict an approval", async () => {
    const run = await build({
      review: [hands({ verdict: "APPROVED", findings: ["critical path is fast", "rename x"] })],
    });
    expect(run).toMatchObject({ word: "merge question" });
  });
});

test("R-002-47: the one repair mends a contradicted approval", async () => {
  const honest = hands({ verdict: "BLOCKED", gaps: ["row 2"] });
  const contradicted = hands({ verdict: "APPROVED", gaps: ["row 2"] }, { repair: honest });
  const run = await build(each("dod", contradicted, APPROVED));
  expect(run).toMatchObject({ word: "merge question", stages: { dev: { attempts: 2 }, dod: { attempts: 2 } } });
});

describe("R-002-11, R-002-30: the sections that a stage produces are enforced", () => {
  const without = (heading: string) => handoffText().replace(new RegExp(`## ${heading}\\n[^]*?(?=\\n## )`, "u"), "");
  test.each(["DoD coverage", "Quality-Gate Results", "Iteration"])(
    "without ## %s the developer has failed",
    async (heading) => {
      const run = await build({ dev: [writes(without(heading))] });
      expect(run).toMatchObject({ status: "stopped", stages: { dev: { attempts: 1 } } });
      expect(run.stages["dod"]).toBeUndefined();
      const reason = expect.stringContaining(`no section "## ${heading}"`);
      expect(await outcomeOf(run, "dev")).toMatchObject({ cause: "section_missing", reason });
      expect(run).toMatchObject({ reason: expect.stringContaining(handoffOf(run, "dev-1")) });
    },
  );

  test("R-002-30: the developer who tests, too, must cover its DoD and its gates", async () => {
    const started = await bench.run("build-plan-simple", { "dev-test": [writes(without("DoD coverage"))] });
    await bench.answer(started, "gate", "approve");
    const run = await bench.load(started.id);
    expect(run).toMatchObject({ status: "stopped", stages: { "dev-test": { attempts: 1 } } });
    expect(await outcomeOf(run, "dev-test")).toMatchObject({ cause: "section_missing" });
  });

  test("a heading with nothing below it is no section; the repair may add it", async () => {
    const empty = without("Iteration").replace("## Quality-Gate", "## Iteration\n\n## Quality-Gate");
    const run = await build({ dev: [writes(empty, { repair: writes(handoffText()) })] });
    expect(run).toMatchObject({ word: "merge question", stages: { dev: { attempts: 1 } } });
  });
});

test("a developer with a row that is not met does not pass, whatever its Status says", async () => {
  const run = await build({ dev: [writes(unmet(handoffText()))] });
  expect(run).toMatchObject({ status: "stopped", word: "failed" });
  expect(await outcomeOf(run, "dev")).toMatchObject({ cause: "verdict_contradicted" });
  expect(run.stages["dod"]).toBeUndefined();
});

test("a developer without any change does not pass", async () => {
  const run = await build({ dev: [hands({}, { idle: true })] });
  expect(run).toMatchObject({ status: "stopped", reason: expect.stringContaining("did not write any change") });
  expect(run.stages["dod"]).toBeUndefined();
});

describe("R-002-41, R-002-43: a failure says why, and where its handoff is", () => {
  test("a handoff without a Status gets one repair and then its reason", async () => {
    const run = await build({ dev: [writes(handoffText().replace("## Status\n\ncomplete\n", ""))] });
    expect(run).toMatchObject({ status: "stopped", stages: { dev: { attempts: 1 } } });
    expect(await outcomeOf(run, "dev")).toMatchObject({
      cause: "status_missing",
      reason: expect.stringContaining('no "## Status"'),
    });
    expect(run).toMatchObject({ reason: expect.stringContaining(handoffOf(run, "dev-1")) });
    expect(readFileSync(handoffOf(run, "dev-1"), "utf8")).toContain("## Abstract");
    expect(readFileSync(join(bench.home, "runs", run.id, "dev-1/repair-prompt.md"), "utf8")).toContain("## Status");
  });

  test("and with the repair it goes on", async () => {
    const mute = handoffText().replace("## Status\n\ncomplete\n", "");
    const run = await build({ dev: [writes(mute, { repair: writes(handoffText()) })] });
    expect(run).toMatchObject({ word: "merge question" });
  });

  test("Status failed names the handoff beside the reason", async () => {
    const run = await build({ dev: [hands({ status: "failed", reason: "the port is taken" })] });
    expect(run).toMatchObject({ reason: expect.stringMatching(/the port is taken.*\(handoff: \S+handoff\.md\)/u) });
  });
});

describe("R-002-35, R-002-38: no other channel replaces the handoff", () => {
  test("a verdict file alone does not pass", async () => {
    const run = await build({ dev: [{ via: "verdict-file", summary: "done" }] });
    expect(run).toMatchObject({ status: "stopped" });
    expect(await outcomeOf(run, "dev")).toMatchObject({ cause: "handoff_missing" });
  });

  test("a verdict file beside a contradicting handoff makes both worthless", async () => {
    const handoff = hands({ verdict: "REQUEST_CHANGES", findings: ["it leaks"] });
    const run = await build({ review: [{ ...handoff, also: { verdict: "APPROVED", summary: "fine" } }] });
    expect(run).toMatchObject({ status: "stopped" });
    expect(await outcomeOf(run, "review")).toMatchObject({ cause: "verdict_ambiguous" });
    expect(run.stages["test"]).toBeUndefined();
  });

  test("a verdict file that tells other rows than the handoff makes both worthless", async () => {
    const claims = { summary: "done", dod: [], payload: { dod: [{ mark: "✗", row: "r", evidence: "" }] } };
    const run = await build({ dev: [{ ...hands(), also: claims }] });
    expect(run).toMatchObject({ status: "stopped" });
    expect(run.stages["dod"]).toBeUndefined();
  });
});
