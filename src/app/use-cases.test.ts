// The use cases on a real engine and a real store; only the agents are played.

import { afterEach, beforeEach, expect, test } from "vitest";
import { openWorkbench, resolveShipped, type Workbench } from "../../test/harness/workbench.ts";
import type { AnswerRequest } from "./answer-item.ts";
import { runIdOf } from "./run-id.ts";
import type { RunPlan } from "./start-run/start-run.ts";

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.close());

const ANN = { actor: "human:ann" } as const;
const BOB = { actor: "human:bob" } as const;

function gate(runId: string, answer: string, text = "", more: Partial<AnswerRequest> = {}): AnswerRequest {
  const rules = { needsReason: true, maxChars: { question: 100, other: 50 } };
  return { item: `${runId}.1`, answer, text, issues: [], seen: { type: "anything" }, rules, ...more };
}

function plan(key?: string, title = "Do it"): RunPlan {
  const subject = { id: "T-1", title, body: "" };
  const facts = { config: { project: bench.project, workspace: "worktree" }, runners: { "*": "outside" } };
  return { runId: runIdOf(key), resolved: resolveShipped("feature"), subject, facts };
}

async function waiting(): Promise<string> {
  const started = await bench.passrail.app.startRun(plan(), "human:ann");
  if (!started.ok) throw new Error(started.error.message);
  return started.value.run.id;
}

const decisions = async (runId: string) =>
  (await bench.events(runId)).filter(({ type }) => type === "gate.answered" || type === "signal.ignored");

test("the same key is the same run; with another task it is refused, without a key every start is a new run", async () => {
  const { app } = bench.passrail;
  expect(runIdOf("a")).toBe(runIdOf("a"));
  expect(runIdOf()).toMatch(/^r[0-9a-f]{10}$/);
  expect(runIdOf("f".repeat(64))).toBe("rffffffffff");
  expect(await app.startRun(plan("once"), "system")).toMatchObject({ ok: true, value: { started: true } });
  expect(await app.startRun(plan("once"), "human:bob")).toMatchObject({ ok: true, value: { started: false } });
  expect(await app.startRun(plan("once", "Another"), "system")).toMatchObject({
    ok: false,
    error: { code: "idempotency_key_reused" },
  });
  expect(await app.startRun(plan(), "system")).toMatchObject({ ok: true, value: { started: true } });
  expect(await bench.passrail.store.listRuns({ limit: 10 })).toHaveLength(2);
});

test("R-000-23: the same answer again changes nothing and succeeds, whoever gives it; another answer names the decision", async () => {
  const { app } = bench.passrail;
  const run = await waiting();
  expect(await app.answerItem(gate(run, "approve", "go"), ANN)).toMatchObject({
    ok: true,
    value: { type: "answered", answer: "approve", item: { stage: "start" } },
  });
  const decided = { answer: "approve", text: "go", by: "human:ann" };
  for (const again of [gate(run, "approve"), gate(run, "approve", "me too")])
    expect(await app.answerItem(again, BOB)).toMatchObject({ ok: true, value: { type: "already", decided } });
  expect(await app.answerItem(gate(run, "reject", "no"), BOB)).toMatchObject({
    ok: false,
    error: { code: "gate_not_waiting", decided },
  });
  expect(await decisions(run)).toMatchObject([{ type: "gate.answered", actor: "human:ann" }]);
});

test("of many answers at once one counts, and the others leave no trace", async () => {
  const { app } = bench.passrail;
  const run = await waiting();
  const given = Array.from({ length: 20 }, (_, at) =>
    at % 2 === 0 ? gate(run, "reject", `reason ${at}`) : gate(run, "approve"),
  );
  const results = await Promise.all(given.map((each) => app.answerItem(each, ANN)));
  const types = results.map((each) => (each.ok ? each.value.type : each.error.code));
  expect(types.filter((type) => type === "answered")).toHaveLength(1);
  expect(types.slice(1).every((type) => type === "gate_not_waiting")).toBe(true);
  expect(await decisions(run)).toMatchObject([{ type: "gate.answered", answer: "decline", comment: "reason 0" }]);
});

test("words are part of the decision where work is sent back", async () => {
  const { app } = bench.passrail;
  const run = await waiting();
  const refusal = async (given: AnswerRequest) => {
    const answered = await app.answerItem(given, ANN);
    return answered.ok ? undefined : answered.error.code;
  };
  expect(await refusal(gate(run, "reject"))).toBe("reason_required");
  expect(await refusal(gate(run, "reject", "x".repeat(51)))).toBe("reason_too_long");
  expect(await refusal(gate(run, "explode"))).toBe("answer_unknown");
  expect(await refusal({ ...gate(run, "approve"), item: `${run}.7` })).toBe("item_not_found");
  expect(await decisions(run)).toEqual([]);
  expect(await refusal(gate(run, "reject", "not now"))).toBeUndefined();
  expect(await refusal(gate(run, "reject", "not now"))).toBeUndefined();
  expect(await refusal(gate(run, "reject", "for another reason"))).toBe("gate_not_waiting");
});

test("an answer is bound to the version that was looked at", async () => {
  const { app } = bench.passrail;
  const run = await waiting();
  const described = await app.describeItem(`${run}.1`);
  if (!described.ok) throw new Error(described.error.message);
  const version = described.value.itemVersion;
  expect(await app.answerItem(gate(run, "approve", "", { seen: { type: "unsaid" } }), ANN)).toMatchObject({
    error: { code: "version_required", current: version },
  });
  expect((await app.controlRun(run, { type: "pause", reason: "lunch" }, ANN)).ok).toBe(true);
  expect((await app.controlRun(run, { type: "resume" }, ANN)).ok).toBe(true);
  // A pause says nothing about the work; a changed ticket does.
  await bench.passrail.engine.deliver(run, { type: "ticket.edited", title: "Another wish", body: "" }, "human:bob");
  const seen = { type: "version", version } as const;
  const answered = await app.answerItem(gate(run, "approve", "", { seen }), ANN);
  expect(answered).toMatchObject({ error: { code: "version_mismatch" } });
  expect(answered.ok ? [] : answered.error.changed?.map(({ type }) => type)).toEqual(["ticket.edited"]);
  const commit = (wanted: string, orNone: boolean) => ({ type: "commit", commit: wanted, orNone }) as const;
  expect(await app.answerItem(gate(run, "approve", "", { seen: commit("abc1234", false) }), ANN)).toMatchObject({
    error: { code: "version_mismatch" },
  });
  expect((await app.answerItem(gate(run, "approve", "", { seen: commit("abc1234", true) }), ANN)).ok).toBe(true);
});

test("control: what is so already succeeds without effect, what does not fit leaves no trace, one key acts once", async () => {
  const { app } = bench.passrail;
  const run = await waiting();
  const changed = async (...given: Parameters<typeof app.controlRun>) => {
    const controlled = await app.controlRun(...given);
    return controlled.ok ? controlled.value.changed : controlled.error.code;
  };
  const before = (await bench.events(run)).length;
  expect(await changed(run, { type: "resume" }, ANN)).toBe(false);
  expect(await changed(run, { type: "retry", note: "", stage: "nowhere" }, ANN)).toBe("action_refused");
  expect(await changed(run, { type: "skip", reason: " " }, ANN)).toBe("reason_required");
  expect(await changed("r0000000000", { type: "resume" }, ANN)).toBe("run_not_found");
  expect((await bench.events(run)).length).toBe(before);
  const once = { ...ANN, key: "key-1" };
  expect(await changed(run.slice(0, 6), { type: "pause", reason: "" }, once)).toBe(true);
  expect(await changed(run, { type: "resume" }, ANN)).toBe(true);
  expect(await changed(run, { type: "pause", reason: "" }, once)).toBe(false);
  expect(await changed(run, { type: "cancel", reason: "" }, ANN)).toBe(true);
  expect(await changed(run, { type: "cancel", reason: "" }, ANN)).toBe(false);
  expect(await changed(run, { type: "pause", reason: "" }, ANN)).toBe("run_ended");
});

test("a plan names what is wrong with its flow or its start and stores nothing", async () => {
  const { app, store } = bench.passrail;
  const request = { subject: { id: "T-1", title: "Do it", body: "" }, input: [] };
  const refused = async (flow: string, runners: readonly string[] = []) => {
    const planned = await app.planRun({ ...request, flow, runners });
    return planned.ok ? planned.value.runId : planned.error.code;
  };
  expect(await refused("nowhere")).toBe("flow_not_found");
  expect(await refused("feature", ["nobody=claude"])).toBe("unknown_agent");
  expect(await refused("feature", ["*=outside"])).toMatch(/^r[0-9a-f]{10}$/);
  expect(await store.listRuns({ limit: 10 })).toEqual([]);
});
