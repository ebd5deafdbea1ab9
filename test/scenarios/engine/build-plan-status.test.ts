// Source 002's status gate: between every two stages the handoff's Status is read before anything else.

import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { openItems, type Run } from "../../../src/core/run/run.ts";
import { APPROVED, each, handoffText, hands } from "../../harness/handoff-text.ts";
import { openWorkbench, type Script, type Workbench } from "../../harness/workbench.ts";

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.close());

const happy: Script = {
  dev: [hands()],
  dod: [APPROVED],
  review: [APPROVED],
  test: [APPROVED],
  "update-specs": [hands()],
};

async function build(script: Script): Promise<Run> {
  const run = await bench.run("build-plan-standard", script);
  await bench.answer(run, "gate", "approve");
  return bench.load(run.id);
}
const writes = (text: string): JsonObject => ({ via: "handoff-file", text });
const folder = (run: Run, attempt: string) => join(bench.home, "runs", run.id, attempt);
const lastOutcome = async (run: Run) => {
  const event = (await bench.events(run.id)).findLast(({ type }) => type === "stage.finished");
  return event?.type === "stage.finished" ? event.outcome : undefined;
};
const warnings = async (run: Run) =>
  (await bench.events(run.id)).flatMap((event) => (event.type === "warning.raised" ? [event.message] : []));

describe("R-002-44: only a readable `complete` advances", () => {
  const status = (text: string) => writes(handoffText().replace("## Status\n\ncomplete", `## Status\n\n${text}`));
  test.each([
    ["in bold with a dot", "**Complete**."],
    ["with its name", "Status: COMPLETE"],
    ["in backticks", "`complete`"],
  ])("%s it counts", async (_, text) => {
    expect(await build({ ...happy, dev: [status(text)] })).toMatchObject({ word: "merge question" });
  });
  test.each([
    ["more words", status("mostly complete")],
    ["the form's own line", status("complete | blocked | failed | incomplete")],
    ["an unknown word", status("done")],
    ["an empty section", status("")],
    ["a word only in a code block", status("```\ncomplete\n```")],
    ["no section", writes("# Handoff\n\nAll is complete.\n")],
    ["an empty file", writes("")],
  ])("%s is a failure", async (_, outcome) => {
    const run = await build({ ...happy, dev: [outcome] });
    expect(run).toMatchObject({ status: "stopped", word: "failed" });
    expect(run.stages["dod"]).toBeUndefined();
    expect(await lastOutcome(run)).toMatchObject({ health: "failed" });
  });
});

test("R-002-35: an agent that writes no handoff file has failed, whatever it says", async () => {
  const run = await build({ ...happy, dev: [{ via: "text", text: handoffText() }] });
  expect(run).toMatchObject({ status: "stopped", word: "failed", stages: { dev: { attempts: 1 } } });
  expect(await lastOutcome(run)).toMatchObject({ cause: "handoff_missing" });
});

test("R-002-35: the handoff of an earlier iteration is kept and is not accepted for a later one", async () => {
  const run = await build({
    ...happy,
    ...each("dev", hands({ iteration: 1 }), { via: "none" }),
    ...each("dod", hands({ verdict: "BLOCKED", gaps: ["g"] }), APPROVED),
  });
  expect(run).toMatchObject({ status: "stopped", stages: { dev: { attempts: 2 } } });
  expect(readFileSync(join(folder(run, "dev-1"), "result/handoff.md"), "utf8")).toContain("iter 1");
  expect(existsSync(join(folder(run, "dev-2"), "result/handoff.md"))).toBe(false);
  const [first, second] = ["dev-1", "dev-2"].map((attempt) => {
    const prompt = readFileSync(join(folder(run, attempt), "prompt.md"), "utf8");
    return /\/channels\/\S+\/result\/handoff\.md/u.exec(prompt)?.[0] ?? attempt;
  });
  expect(first).toMatch(/^\/channels/u);
  expect(second).toMatch(/^\/channels/u);
  expect(second).not.toBe(first);
});

test("R-002-37, R-002-40: blocked stops with the open questions verbatim; the answer goes to the next attempt of the same stage", async () => {
  const questions = ["Which *currency*: EUR or USD?", "May `/v1` break?"];
  const run = await build({
    ...happy,
    ...each("dev", hands({ status: "blocked", reason: "two readings", questions }), hands()),
  });
  expect(run).toMatchObject({ status: "waiting", word: "blocked", stages: { dev: { attempts: 1 } } });
  expect(openItems(run)).toMatchObject([{ kind: "question", stage: "dev", who: "human", questions }]);
  expect(bench.notices.at(-1)).toMatchObject({
    event: "question",
    text: expect.stringContaining(questions.join("\n")),
  });
  await bench.passrail.engine.idle();
  expect((await bench.load(run.id)).stages["dev"]?.attempts).toBe(1);
  await bench.answer(run, "question", "", "EUR; no");
  const after = await bench.load(run.id);
  expect(after).toMatchObject({ word: "merge question", stages: { dev: { attempts: 2 }, dod: { attempts: 1 } } });
  const prompt = readFileSync(join(folder(run, "dev-2"), "prompt.md"), "utf8");
  expect(prompt).toMatch(/Which \*currency\*: EUR or USD\?[\s\S]*EUR; no/u);
});

test("R-002-40: what a blocked attempt said of itself is not listed as an issue to resolve", async () => {
  const run = await build({
    ...happy,
    ...each("dev", hands({ status: "blocked", questions: ["Which one?"] }), hands()),
  });
  await bench.answer(run, "question", "", "the first");
  const prompt = readFileSync(join(folder(run, "dev-2"), "prompt.md"), "utf8");
  expect(prompt).toContain("the first");
  expect(prompt).not.toContain("Issues to resolve");
});

test("R-002-40: an empty answer is refused and the run goes on waiting", async () => {
  const run = await build({ ...happy, dev: [hands({ status: "blocked", questions: ["?"] })] });
  const delivery = await bench.answer(run, "question", "", "  ");
  expect(delivery.ignored).toBe("the answer is empty");
  expect(await bench.load(run.id)).toMatchObject({ status: "waiting", stages: { dev: { attempts: 1 } } });
});

test("failed stops with the reason, keeps the handoff, and a person can retry", async () => {
  const reason = "the database cannot be migrated: column exists";
  const run = await build({ ...happy, ...each("dev", hands({ status: "failed", reason }), hands()) });
  expect(run).toMatchObject({ status: "stopped", word: "failed", reason: expect.stringContaining(reason) });
  expect(bench.notices.at(-1)).toMatchObject({ event: "stopped", text: expect.stringContaining(reason) });
  expect(readFileSync(join(folder(run, "dev-1"), "result/handoff.md"), "utf8")).toContain(reason);
  await bench.passrail.engine.deliver(run.id, { type: "retry.requested", note: "column dropped" }, "human:tester");
  await bench.passrail.engine.idle();
  expect(await bench.load(run.id)).toMatchObject({ word: "merge question", stages: { dev: { attempts: 2 } } });
});

test("and a person can abort", async () => {
  const run = await build({ ...happy, dev: [hands({ status: "failed", reason: "no" })] });
  await bench.passrail.engine.deliver(run.id, { type: "cancel.requested", reason: "given up" }, "human:tester");
  expect(await bench.load(run.id)).toMatchObject({ status: "canceled", word: "aborted" });
});

describe("R-002-42: incomplete asks retry, accept or abort", () => {
  const script = {
    ...happy,
    ...each("dev", hands({ status: "incomplete", reason: "out of turns; rows 4 and 5 are left" }), hands()),
  };
  test("and shows the reason", async () => {
    const run = await build(script);
    expect(run).toMatchObject({ status: "waiting", word: "blocked" });
    expect(openItems(run)).toMatchObject([
      {
        kind: "choice",
        questions: ["out of turns; rows 4 and 5 are left"],
        choices: { retry: "self", accept: "next", abort: "cancel" },
      },
    ]);
  });
  test.each([
    ["retry", { word: "merge question", stages: { dev: { attempts: 2 } } }],
    ["accept", { word: "merge question", stages: { dev: { attempts: 1 }, dod: { attempts: 1 } } }],
    ["abort", { status: "canceled", word: "aborted" }],
  ])("%s", async (choice, expected) => {
    const run = await build(script);
    await bench.answer(run, "choice", choice);
    expect(await bench.load(run.id)).toMatchObject(expected);
  });
});

test("the status is read between every two stages, also of the last", async () => {
  for (const stage of ["dod", "review", "test", "update-specs"]) {
    const run = await build({
      ...happy,
      [stage]: [hands({ status: "failed", reason: `${stage} broke`, verdict: "APPROVED" })],
    });
    expect(run).toMatchObject({ status: "stopped", word: "failed", reason: expect.stringContaining(`${stage} broke`) });
  }
});

test("R-002-45: status and verdict are independent", async () => {
  const bounced = await build({
    ...happy,
    ...each("dod", hands({ status: "complete", verdict: "BLOCKED", gaps: ["g"] }), APPROVED),
  });
  expect(bounced).toMatchObject({ word: "merge question", stages: { dev: { attempts: 2 } } });
  const stopped = await build({ ...happy, dod: [hands({ status: "blocked", verdict: "APPROVED", questions: ["?"] })] });
  expect(stopped).toMatchObject({ status: "waiting", word: "blocked" });
  expect(stopped.stages["review"]).toBeUndefined();
});

test("R-002-46: a status without a reason is shown as such and flagged", async () => {
  const run = await build({ ...happy, dev: [hands({ status: "blocked" })] });
  expect(await warnings(run)).toEqual(["no reason given for status blocked"]);
});

test("R-002-47: a stage that judges without a verdict has failed; numbers that disagree raise a warning", async () => {
  const silent = await build({ ...happy, review: [writes(handoffText().replace("verdict: n/a\n", ""))] });
  expect(silent).toMatchObject({ status: "stopped", word: "failed" });
  expect(await lastOutcome(silent)).toMatchObject({ cause: "verdict_missing" });
  const disagreeing = await build({ ...happy, dev: [writes(handoffText().replace("0 created", "3 created"))] });
  expect(disagreeing).toMatchObject({ word: "merge question" });
  expect(await warnings(disagreeing)).toEqual(["the Abstract says 3 files created, the section lists 0"]);
});

test("a next phase that is not the next stage is said and not obeyed", async () => {
  const run = await build({
    ...happy,
    dev: [writes(handoffText().replace("open_questions", "next_phase: tester\nopen_questions"))],
  });
  expect(run).toMatchObject({ word: "merge question", stages: { dod: { attempts: 1 } } });
  expect(await warnings(run)).toEqual([expect.stringContaining("next agent tester, it is dod-checker")]);
});
