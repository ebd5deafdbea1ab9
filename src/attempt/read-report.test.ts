// Which channel counts, with real files; each form is tested beside its reader.

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { shippedFlow } from "../../test/harness/shipped.ts";
import type { AttemptEnd } from "../runner/runner.ts";
import { MAIN_TRACK } from "../core/flow/flow.ts";
import { ok } from "../core/result.ts";
import { findWork } from "../core/run/sequence.ts";
import { simulate } from "../core/run/simulate.ts";
import { acceptSubmitted } from "./accept-submitted.ts";
import { attemptFiles } from "./attempt-files.ts";
import type { ReadContext } from "./read-context.ts";
import { readReport } from "./read-report.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "passrail-report-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const feature = shippedFlow("feature");
const routed = shippedFlow("routed");

function contextOf(flow: typeof feature, stageId: string): ReadContext {
  const { run } = simulate(flow, flow === routed ? [{ stage: "route", stages: ["builder", "reviewer"] }] : [], {
    facts: {},
  });
  const stage = findWork(flow, run, MAIN_TRACK, stageId);
  if (stage === undefined) throw new Error(`no stage ${stageId}`);
  const files = attemptFiles(dir, "r1", stageId, 1);
  mkdirSync(files.result, { recursive: true });
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
    writesFiles: true,
    iteration: 1,
    knownAgents: ["builder", "reviewer"],
    readYaml: () => ok([]),
    findingIds: [],
    taskRows: [],
    redact: (text) => text,
  };
}

const ended = (stdoutTail: string, more: Partial<AttemptEnd> = {}): AttemptEnd => ({
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
  ...more,
});
const tail = (verdict: string) => `said before\n${JSON.stringify({ verdict, agent: "IN6", feature_id: "F-1" })}`;

test("S07: a verdict file and a text that disagree make the verdict ambiguous; the same twice is one verdict", async () => {
  const context = contextOf(feature, "qa");
  writeFileSync(context.files.verdict, JSON.stringify({ verdict: "REVISE", issues: ["x"] }));
  const { report, unreadable, heard } = await readReport(context, ended(tail("SHIP")));
  expect(unreadable).toMatchObject({ code: "verdict_ambiguous" });
  expect(report).toMatchObject({ cause: "verdict_ambiguous" });
  expect(heard).toEqual([
    { by: "verdict-file", signed: false, said: "REVISE" },
    { by: "form", signed: false, said: "SHIP" },
  ]);
  const same = await readReport(context, ended(tail("REVISE")));
  expect(same).toMatchObject({ report: { verdict: "REVISE", heard: { by: "form", signed: false } } });
});

test("S07: where the nonce is required a bare file turns no signed verdict around, and is none itself", async () => {
  const context: ReadContext = { ...contextOf(feature, "qa"), nonce: "n0nce", nonceRule: "required" };
  const signed = JSON.stringify({ verdict: "REVISE", agent: "IN6", feature_id: "F-1", nonce: "n0nce" });
  writeFileSync(context.files.verdict, JSON.stringify({ verdict: "SHIP" }));
  expect((await readReport(context, ended(""))).unreadable).toMatchObject({ code: "verdict_unsigned" });
  expect((await readReport(context, ended(signed))).unreadable).toMatchObject({ code: "verdict_ambiguous" });
  writeFileSync(context.files.verdict, JSON.stringify({ verdict: "REVISE" }));
  expect((await readReport(context, ended(signed))).report).toMatchObject({
    verdict: "REVISE",
    heard: { signed: true },
  });
});

test("S07: an accepted call is final, whatever the program or a file says afterwards", async () => {
  const context = contextOf(feature, "qa");
  writeFileSync(context.files.verdict, JSON.stringify({ verdict: "SHIP", nonce: "n1" }));
  const submitted = { verdict: "REVISE", structured: true, summary: "no" };
  const { report, unreadable } = await readReport(context, ended("", { reason: "timeout", exitCode: null }), submitted);
  expect(unreadable).toBeUndefined();
  expect(report).toMatchObject({ verdict: "REVISE", heard: { by: "desk", signed: true } });
  expect(report.warnings?.map((warning) => warning.split(":")[0])).toEqual(["verdict_disputed", "ended_after_verdict"]);
});

test("S07: the desk refuses a call that the verdict file contradicts, and accepts it when both say the same", async () => {
  const context = contextOf(feature, "qa");
  const call = JSON.stringify({
    verdict: "REVISE",
    summary: "no",
    issues: [{ severity: "major", description: "the test fails" }],
  });
  writeFileSync(context.files.verdict, JSON.stringify({ verdict: "SHIP", nonce: "n1" }));
  expect(await acceptSubmitted(context, call)).toEqual({
    ok: false,
    error: expect.stringContaining("says something else"),
  });
  rmSync(context.files.verdict);
  expect(await acceptSubmitted(context, call)).toMatchObject({ ok: true, value: { verdict: "REVISE" } });
});

test("R-X-03: a verdict file that cannot be read is not replaced by the text form", async () => {
  const context = contextOf(feature, "qa");
  writeFileSync(context.files.verdict, '{"verdict": "SHIP",');
  const { report, unreadable } = await readReport(context, ended(tail("SHIP")));
  expect(unreadable).toBeDefined();
  expect(report.cause).toBeDefined();
});

test.each<[string, Partial<AttemptEnd>, string]>([
  ["an exit code", { exitCode: 2 }, "agent_exit_nonzero"],
  ["a signal", { reason: "signaled", exitCode: null, signal: "SIGSEGV" }, "agent_killed"],
  ["a timeout", { reason: "timeout", exitCode: null }, "timeout"],
  ["too much output", { reason: "output_limit", exitCode: null }, "output_limit"],
  ["no such program", { reason: "agent_not_found", exitCode: null }, "agent_not_found"],
])("R-X-03: after %s no verdict counts, on no channel", async (_, more, cause) => {
  const context = contextOf(feature, "qa");
  writeFileSync(context.files.verdict, JSON.stringify({ verdict: "SHIP" }));
  const { report, unreadable } = await readReport(context, ended(tail("SHIP"), more));
  expect(report).toMatchObject({ cause, summary: tail("SHIP") });
  expect(report).not.toHaveProperty("verdict");
  expect(unreadable).toBeUndefined();
});

test.each(["idle_timeout", "timeout", "startup_timeout"] as const)(
  "a program that slept through a limit of its vendor is told as that, although its %s ended it",
  async (reason) => {
    const failure = { kind: "quota", message: "Out until three.", resetsAt: "2026-11-17T15:00:00.000Z" } as const;
    const conversation = { ...SILENT, failure };
    const { report } = await readReport(contextOf(feature, "qa"), ended("", { reason, exitCode: null, conversation }));
    expect(report).toMatchObject({ cause: "quota", reason: "Out until three.", resetsAt: failure.resetsAt });
    // Without such news the limit of time is the reason.
    const silent = await readReport(
      contextOf(feature, "qa"),
      ended("", { reason, exitCode: null, conversation: SILENT }),
    );
    expect(silent.report.cause).toBe(reason);
  },
);

const SILENT: NonNullable<AttemptEnd["conversation"]> = {
  session: null,
  model: null,
  version: null,
  usage: null,
  turns: null,
  toolCalls: 0,
  structured: null,
  denials: [],
  failure: null,
};

test("R-000-09: a word that means nothing at this stage can be said again, and is kept", async () => {
  const { report, unreadable } = await readReport(contextOf(feature, "qa"), ended(tail("LGTM")));
  expect(unreadable).toMatchObject({
    code: "verdict_unknown",
    message: expect.stringContaining("SHIP, REVISE, REJECT"),
  });
  expect(report).toMatchObject({ verdict: "LGTM", summary: tail("LGTM") });
});

test("what was said before the verdict is its summary", async () => {
  const { report } = await readReport(contextOf(feature, "qa"), ended(tail("SHIP")));
  expect(report.summary).toBe("said before");
});

test("where a missing verdict counts as revise there is no repair", async () => {
  const context = contextOf(routed, "reviewer");
  const { report, unreadable } = await readReport(context, ended("Verdict: APPROVE"));
  expect(unreadable).toBeUndefined();
  expect(report.verdict).toBeUndefined();
  expect(report.warnings).toHaveLength(1);
});

test("the review is read from its file in the workspace, and not through a link", async () => {
  const context = contextOf(routed, "reviewer");
  mkdirSync(join(dir, ".brain"));
  writeFileSync(join(dir, "elsewhere.md"), "Verdict: APPROVE\n");
  symlinkSync(join(dir, "elsewhere.md"), join(dir, ".brain/REVIEW.md"));
  expect((await readReport(context, ended(""))).report.verdict).toBeUndefined();
  rmSync(join(dir, ".brain/REVIEW.md"));
  writeFileSync(join(dir, ".brain/REVIEW.md"), "Verdict: APPROVE\nScore: 9\n");
  expect((await readReport(context, ended(""))).report).toMatchObject({ verdict: "APPROVE", score: 9 });
});

test.each(['[{"agent": "wizard"}]', "[]"])(
  "R-001-04: the list %s is refused on the verdict file too",
  async (stages) => {
    const context = contextOf(routed, "route");
    writeFileSync(context.files.verdict, `{"stages": ${stages}}`);
    expect((await readReport(context, ended(""))).unreadable).toMatchObject({ code: "verdict_field_invalid" });
    writeFileSync(context.files.verdict, '{"stages": [{"agent": "Builder", "teams": true}]}');
    expect((await readReport(context, ended(""))).report).toMatchObject({
      stages: [{ agent: "builder", teams: true }],
    });
  },
);
