// The desk and the files of an attempt hold a review to the open findings; each form has its own grammar for them.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { shippedFlow } from "../../test/harness/shipped.ts";
import type { Findings } from "../core/finding/finding.ts";
import { MAIN_TRACK } from "../core/flow/flow.ts";
import { ok } from "../core/result.ts";
import { findWork } from "../core/run/sequence.ts";
import { simulate } from "../core/run/simulate.ts";
import { submissionSchema } from "../core/verdict/submission.ts";
import type { AttemptEnd } from "../runner/runner.ts";
import { acceptSubmitted } from "./accept-submitted.ts";
import { attemptFiles } from "./attempt-files.ts";
import type { ReadContext } from "./read-context.ts";
import { readReport } from "./read-report.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "passrail-findings-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

/** One open finding of the stage: F1. */
function contextOf(name: Parameters<typeof shippedFlow>[0], stageId: string): ReadContext {
  const flow = shippedFlow(name);
  const { run } = simulate(flow, name === "routed" ? [{ stage: "route", stages: ["builder", "reviewer"] }] : [], {
    facts: {},
  });
  const stage = findWork(flow, run, MAIN_TRACK, stageId);
  if (stage === undefined) throw new Error(`no stage ${stageId}`);
  const files = attemptFiles(dir, "r1", stageId, 2);
  mkdirSync(files.result, { recursive: true });
  const open = {
    id: "F1",
    text: "one",
    stage: stageId,
    track: MAIN_TRACK,
    attempt: 1,
    state: "open",
    notFixed: 0,
    said: [],
  } as const;
  const findings: Findings = { last: 1, list: [open] };
  return {
    flow,
    stage,
    subjectId: "F-1",
    nonce: "n1",
    nonceRule: "optional",
    isQuoted: () => false,
    isKnownFile: () => false,
    workspaceDir: dir,
    files,
    knownAgents: [],
    readYaml: () => ok([]),
    findings,
    writesFiles: true,
    iteration: 1,
    findingIds: ["F1"],
    taskRows: [],
    redact: (text) => text,
  };
}

const ended = (stdoutTail: string): AttemptEnd => ({
  reason: "exited",
  exitCode: 0,
  signal: null,
  durationMs: 1,
  outputBytes: stdoutTail.length,
  truncated: false,
  stdoutTail,
  stdoutWhole: true,
  stderrTail: "",
  detail: "",
  process: null,
});

const submit = async (findings: readonly object[] | undefined, verdict = "SHIP") =>
  acceptSubmitted(
    contextOf("feature", "qa"),
    JSON.stringify({ verdict, summary: "s", ...(findings === undefined ? {} : { findings }) }),
  );

test("the desk's tool lists the ids, and refuses a call until every open one is answered for", async () => {
  const context = contextOf("feature", "qa");
  const schema = submissionSchema(context.flow, context.stage, [], true, context.findingIds);
  expect(JSON.stringify(schema)).toContain('"enum":["F1"]');
  expect(await submit(undefined)).toMatchObject({ ok: false, error: expect.stringContaining("nothing about F1") });
  expect(await submit([{ id: "F7", state: "fixed" }])).toMatchObject({
    ok: false,
    error: expect.stringContaining("F7"),
  });
  const fixed = { id: "F1", state: "fixed", reason: "seen" };
  expect(await submit([fixed, fixed])).toMatchObject({ ok: false, error: expect.stringContaining("named twice") });
  expect(await submit([{ id: "F1", state: "not_fixed", reason: "no" }])).toMatchObject({
    ok: false,
    error: expect.stringContaining("F1 is not fixed"),
  });
  expect(await submit([fixed])).toMatchObject({
    ok: true,
    value: { findings: [{ id: "F1", state: "fixed", said: "seen" }] },
  });
  expect(await submit([{ id: "F1", state: "not_fixed", reason: "no" }], "REVISE")).toMatchObject({ ok: true });
});

test("without findings the tool has no field for them", () => {
  const { flow, stage } = contextOf("feature", "qa");
  expect(JSON.stringify(submissionSchema(flow, stage, []))).not.toContain("findings");
});

test("a call and a handoff file that say different things about a finding are refused", async () => {
  const context = contextOf("build-plan-standard", "review");
  const file = (state: string) =>
    writeFileSync(
      context.files.handoff,
      `## Status\n\ncomplete\n\n## Verdict\n\nREQUEST_CHANGES\n\n## Findings\n\n- F1: ${state} — looked\n- new one\n`,
    );
  const call = JSON.stringify({
    verdict: "REQUEST_CHANGES",
    summary: "s",
    findings: [{ id: "F1", state: "fixed", reason: "r" }],
  });
  file("not fixed");
  expect(await acceptSubmitted(context, call)).toMatchObject({ ok: false, error: expect.stringContaining("about F1") });
  file("fixed");
  expect(await acceptSubmitted(context, call)).toMatchObject({ ok: true, value: { issues: ["new one"] } });
});

const HANDOFF = "## Status\n\ncomplete\n\n## Verdict\n\nAPPROVED\n\n## Findings\n\n- F1: withdrawn — it was wrong\n";
const forms: readonly (readonly [
  string,
  Parameters<typeof shippedFlow>[0],
  string,
  (context: ReadContext) => string,
])[] = [
  ["handoff-file", "build-plan-standard", "review", (context) => (writeFileSync(context.files.handoff, HANDOFF), "")],
  [
    "verdict-file",
    "story",
    "reviewer",
    (context) => (
      writeFileSync(
        context.files.verdict,
        JSON.stringify({
          verdict: "approved",
          payload: { approved: true },
          findings: [{ id: "F1", state: "withdrawn", reason: "it was wrong" }],
        }),
      ),
      ""
    ),
  ],
  [
    "json-tail",
    "feature",
    "qa",
    () =>
      JSON.stringify({
        verdict: "SHIP",
        agent: "IN6",
        feature_id: "F-1",
        findings: [{ id: "F1", state: "withdrawn", reason: "it was wrong" }],
      }),
  ],
  [
    "review file",
    "routed",
    "reviewer",
    () => (
      mkdirSync(join(dir, ".brain"), { recursive: true }),
      writeFileSync(
        join(dir, ".brain/REVIEW.md"),
        "Verdict: APPROVE\n\n## Findings\n\n- F1: withdrawn — it was wrong\n",
      ),
      ""
    ),
  ],
  [
    "WORK_RESULT block",
    "ticket",
    "validate",
    () => "WORK_RESULT:\n  success: true\n  findings: |\n    F1: withdrawn — it was wrong\n",
  ],
];

test.each(forms)(
  "%s: a disposition is read, and one that is left out asks for the repair",
  async (_form, flow, stage, write) => {
    const silent = contextOf(flow, stage);
    const said = write(silent);
    const read = await readReport(silent, ended(said));
    expect(read.unreadable).toBeUndefined();
    expect(read.report).toMatchObject({ findings: [{ id: "F1", state: "withdrawn", said: "it was wrong" }] });
    const other = await readReport(
      {
        ...silent,
        findings: { last: 2, list: (silent.findings?.list ?? []).flatMap((each) => [each, { ...each, id: "F2" }]) },
      },
      ended(said),
    );
    expect(other).toMatchObject({
      report: { cause: "findings_left_out" },
      unreadable: { message: expect.stringContaining("F2") },
    });
  },
);
