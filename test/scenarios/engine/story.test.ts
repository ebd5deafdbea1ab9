// Source 003 without its HTTP API: order, handoff rows, reject loop, prompts. Agents report by the verdict file.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { handoffPayload, outwardStatus, storyState } from "../../../src/core/view/story.ts";
import { openItems, type Run } from "../../../src/core/run/run.ts";
import { each } from "../../harness/handoff-text.ts";
import { shippedFlow } from "../../harness/shipped.ts";
import {
  openWorkbench,
  resolveShipped,
  type Script,
  verdictsOf,
  type Workbench,
  wordsOf,
} from "../../harness/workbench.ts";

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.close());

const flow = shippedFlow("story");
const STORY = { subject: "v0.1:1.1.1" };
const PLAN = { plan: "p", files_to_modify: [], approach: "a", risks: [], questions_resolved: [] };
const CODE = { files_changed: ["a.ts"], summary: "s", tests_added: ["t"], build_passes: true, discoveries: {} };
const REVIEW = { approved: true, files_changed: ["a.ts"], discoveries: {}, review_notes: "fine" };
const gives = (payload: JsonObject) => ({ verdict: "approved", payload });
const rejects = (reason: string) => ({ verdict: "rejected", reason });
const happy: Script = {
  analyst: [gives(PLAN)],
  implementer: [gives(CODE)],
  reviewer: [gives(REVIEW)],
  refactorer: [gives({})],
  documenter: [gives({})],
};

const rows = (run: Run) => bench.passrail.store.handoffs(run.id);
const edges = async (run: Run) =>
  (await rows(run)).map((row) => `${row.fromAgent}→${row.toAgent} ${outwardStatus(row.state)}`);
const state = async (run: Run) => storyState(flow, await rows(run));
const warnings = async (run: Run) =>
  (await bench.events(run.id)).flatMap((event) =>
    event.type === "warning.raised" ? [`${event.stage} ${event.code}`] : [],
  );

test("R-003-01, R-003-12, R-003-14: the story passes from the orchestrator through five agents back to the orchestrator", async () => {
  const run = await bench.run("story", happy, STORY);
  expect(run).toMatchObject({ status: "completed", word: "complete" });
  expect(await edges(run)).toEqual([
    "orchestrator→analyst accepted",
    "analyst→implementer accepted",
    "implementer→reviewer accepted",
    "reviewer→refactorer accepted",
    "refactorer→documenter accepted",
    "documenter→orchestrator accepted",
  ]);
  expect(wordsOf(await bench.events(run.id)).slice(1)).toEqual([
    "analyzing",
    "implementing",
    "reviewing",
    "refactoring",
    "documenting",
    "complete",
  ]);
  expect(await state(run)).toEqual({ currentAgent: null, phase: "complete" });
  expect(await warnings(run)).toEqual([]);
  expect(bench.errors).toEqual([]);
});

test("R-003-02, R-003-05: a story starts with a pending handoff to the analyst that carries the story", async () => {
  await bench.close();
  bench = await openWorkbench({ slots: 1 });
  const release = join(bench.dir, "go");
  const other = await bench.run(
    "story",
    { ...happy, analyst: [{ ...gives(PLAN), hold: release }] },
    { subject: "v0.1:9.9.9", wait: false },
  );
  const run = await bench.run("story", happy, { ...STORY, wait: false });
  // The only slot is taken: the handoff of the second story waits.
  const [row] = await rows(run);
  expect(row).toMatchObject({
    fromAgent: "orchestrator",
    toAgent: "analyst",
    state: "pending",
    processedAt: null,
    fromStage: null,
  });
  expect(row?.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/u);
  expect(await state(run)).toEqual({ currentAgent: "analyst", phase: "analyzing" });
  if (row !== undefined)
    expect(handoffPayload([row], row, run.subject, () => undefined)).toEqual({ story: { ...run.subject } });
  await bench.passrail.engine.deliver(other.id, { type: "cancel.requested", reason: "make room" }, "human:tester");
  await bench.passrail.engine.idle();
  const after = await rows(run);
  expect(after[0]?.processedAt).toMatch(/Z$/u);
  const ids = [...after, ...(await rows(other))].map(({ id }) => id);
  expect(ids.every((id) => Number.isSafeInteger(id))).toBe(true);
  expect(new Set(ids).size).toBe(ids.length);
  expect(after.map(({ id }) => id)).toEqual(after.map(({ id }) => id).sort((a, b) => a - b));
});

test("an agent stays current while it works", async () => {
  const release = join(bench.dir, "go");
  const began = join(bench.dir, "began");
  const run = await bench.run(
    "story",
    { ...happy, implementer: [{ ...gives(CODE), write: { [began]: "x" }, hold: release }] },
    { ...STORY, wait: false },
  );
  await expect.poll(async () => (await edges(run)).length, { timeout: 10_000 }).toBe(2);
  await expect
    .poll(() => state(run), { timeout: 10_000 })
    .toEqual({ currentAgent: "implementer", phase: "implementing" });
  await expect.poll(async () => (await edges(run))[1], { timeout: 10_000 }).toBe("analyst→implementer accepted");
  expect(await state(run)).toEqual({ currentAgent: "implementer", phase: "implementing" });
});

test("R-003-07: a reject closes the row with its reason and returns the work to the implementer", async () => {
  const run = await bench.run(
    "story",
    { ...happy, ...each("reviewer", rejects("Tests failing"), rejects("Still failing"), gives(REVIEW)) },
    STORY,
  );
  expect(run).toMatchObject({ status: "completed", counters: { "reviewer.review": { loops: 2 } } });
  const all = await rows(run);
  expect((await edges(run)).slice(2, 7)).toEqual([
    "implementer→reviewer rejected",
    "reviewer→implementer accepted",
    "implementer→reviewer rejected",
    "reviewer→implementer accepted",
    "implementer→reviewer accepted",
  ]);
  expect(all[2]).toMatchObject({ rejectionReason: "Tests failing", processedAt: expect.stringMatching(/Z$/u) });
  const attempts = await bench.passrail.store.attempts(run.id);
  const payloadOf = (stage: string, attempt: number) =>
    attempts.find((each) => each.stage === stage && each.attempt === attempt)?.outcome?.["payload"] as
      | JsonObject
      | undefined;
  const returned = all[3];
  if (returned === undefined) throw new Error("no returned handoff");
  expect(handoffPayload(all, returned, run.subject, payloadOf)).toEqual({
    ...CODE,
    rejection_reason: "Tests failing",
    rejected_by: "reviewer",
  });
  const prompt = readFileSync(join(bench.home, "runs", run.id, "implementer-2", "prompt.md"), "utf8");
  expect(prompt).toMatch(/## Handoff from reviewer \(reviewer\): rejected\n```text\nTests failing\n```/u);
});

test("the reason of a reject is what the implementer has to resolve", async () => {
  const run = await bench.run(
    "story",
    { ...happy, ...each("reviewer", rejects("Tests failing"), gives(REVIEW)) },
    STORY,
  );
  const prompt = readFileSync(join(bench.home, "runs", run.id, "implementer-2", "prompt.md"), "utf8");
  expect(prompt).toContain("Issues to resolve, as they were reported:\n```text\n- Tests failing");
});

test("R-003-32: the third reject is escalated; the limit can be taken away", async () => {
  const script = { ...happy, reviewer: [rejects("no")] };
  const run = await bench.run("story", script, STORY);
  expect(run).toMatchObject({ status: "waiting", stages: { implementer: { attempts: 3 }, reviewer: { attempts: 3 } } });
  expect(openItems(run)).toMatchObject([{ kind: "escalation", stage: "reviewer" }]);
  const shipped = resolveShipped("story");
  const review = { ...shipped.flow.counters["review"], maxLoops: null } as (typeof shipped.flow.counters)[string];
  const unlimited = { ...shipped, hash: `${shipped.hash}-unlimited`, flow: { ...shipped.flow, counters: { review } } };
  const rejected = Array.from({ length: 6 }, () => rejects("no"));
  const long = await bench.run(
    unlimited,
    { ...happy, ...each("reviewer", ...rejected, gives(REVIEW)) },
    { subject: "v0.1:1.1.2" },
  );
  expect(long).toMatchObject({ status: "completed", stages: { reviewer: { attempts: 7 } } });
});

test("R-003-31: any receiver may reject; the analyst's reject waits for a person", async () => {
  const back = await bench.run(
    "story",
    { ...happy, ...each("implementer", rejects("The plan is wrong"), gives(CODE)) },
    STORY,
  );
  expect(back).toMatchObject({ status: "completed", stages: { analyst: { attempts: 2 } } });
  expect((await edges(back)).slice(1, 3)).toEqual(["analyst→implementer rejected", "implementer→analyst accepted"]);
  const refused = await bench.run("story", { ...happy, analyst: [rejects("Not a story")] }, STORY);
  expect(refused).toMatchObject({ status: "waiting" });
  expect(openItems(refused)).toMatchObject([{ kind: "escalation", stage: "analyst" }]);
});

test("R-003-40: a payload without the keys of its role raises a warning and goes on", async () => {
  const run = await bench.run(
    "story",
    { ...happy, analyst: [gives({ plan: "p" })], reviewer: [{ verdict: "approved" }] },
    STORY,
  );
  expect(run.status).toBe("completed");
  expect(await warnings(run)).toEqual(["analyst payload_key_missing", "reviewer payload_key_missing"]);
});

test("R-003-40: work whose build does not pass is not handed to the reviewer", async () => {
  const run = await bench.run("story", { ...happy, implementer: [gives({ ...CODE, build_passes: false })] }, STORY);
  expect(run.status).toBe("waiting");
  expect(openItems(run)).toMatchObject([
    { kind: "escalation", stage: "implementer", reason: expect.stringContaining("build_passes: false") },
  ]);
  expect(run.stages["reviewer"]).toBeUndefined();
  expect(await state(run)).toEqual({ currentAgent: null, phase: null });
});

test("R-003-40: an implementer that sends the work back owes no payload", async () => {
  const run = await bench.run(
    "story",
    { ...happy, ...each("implementer", { ...rejects("no"), payload: { build_passes: false } }, gives(CODE)) },
    STORY,
  );
  expect(run.status).toBe("completed");
});

test("R-003-13: a program that ends without a handoff of its own has failed: it waits in the inbox and is no longer current", async () => {
  const run = await bench.run("story", { ...happy, implementer: [{ via: "none" }] }, STORY);
  expect(openItems(run)).toMatchObject([{ kind: "escalation", stage: "implementer" }]);
  expect(await state(run)).toEqual({ currentAgent: null, phase: null });
  expect(verdictsOf(await bench.events(run.id))).toEqual(["analyst:approved", "implementer:failed"]);
});

test("R-003-38: the prompt defines the three names as lines, and the environment holds the same values", async () => {
  const log = join(bench.dir, "log.jsonl");
  const run = await bench.run("story", { ...happy, analyst: [{ ...gives(PLAN), log }] }, STORY);
  const line = JSON.parse(readFileSync(log, "utf8")) as { prompt: string; env: Record<string, string> };
  expect(line.env).toMatchObject({ STORY_ID: "v0.1:1.1.1", BRANCH: "feat/story-1.1.1" });
  expect(line.prompt).toMatch(/^STORY_ID = v0\.1:1\.1\.1$/mu);
  expect(line.prompt).toMatch(/^BRANCH = feat\/story-1\.1\.1$/mu);
  expect(line.prompt).toContain(`DASHBOARD_URL = ${line.env["DASHBOARD_URL"] ?? ""}`);
  expect(run.status).toBe("completed");
});

test("R-003-36, R-003-37: each agent gets its own shipped prompt, with role, responsibilities, payload keys and context note", async () => {
  const run = await bench.run("story", happy, STORY);
  for (const stage of ["analyst", "implementer", "reviewer", "refactorer", "documenter"]) {
    const prompt = readFileSync(join(bench.home, "runs", run.id, `${stage}-1`, "prompt.md"), "utf8");
    for (const part of [
      `# ${stage[0]?.toUpperCase()}${stage.slice(1)}`,
      "## R",
      "## Responsibilities",
      "## Handoff format",
      "> **Context:**",
    ]) {
      expect(prompt).toContain(part);
    }
  }
  for (const key of flow.stages.flatMap((stage) =>
    "payload" in stage ? stage.payload.map((name) => [stage.id, name] as const) : [],
  )) {
    expect(readFileSync(join(bench.home, "runs", run.id, `${key[0]}-1`, "prompt.md"), "utf8")).toContain(
      `\`${key[1]}\``,
    );
  }
});

test("R-003-36: an agent whose file is missing is named before anything starts", () => {
  const shipped = readFileSync(join(import.meta.dirname, "../../../flows/story.yaml"), "utf8");
  const folder = join(bench.project, ".passrail", "flows");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "story.yaml"), shipped.replace("agent: refactorer", "agent: polisher"));
  expect(() => resolveShipped("story", bench.project)).toThrow(/polisher/u);
});
