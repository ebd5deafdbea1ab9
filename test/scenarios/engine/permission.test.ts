// An agent at work asks for permission, and a person answers while it waits. The agent is a program that asks as Claude Code does.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { attemptFacts } from "../../../src/core/attempt-facts.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import type { RunEvent } from "../../../src/core/run/event.ts";
import { type InboxItem, openItems } from "../../../src/core/run/run.ts";
import { onlyStages } from "../../harness/custom-flow.ts";
import { until } from "../../harness/until.ts";
import { openWorkbench, type Workbench } from "../../harness/workbench.ts";

const AGENT = join(import.meta.dirname, "../../fixtures/agents/coding-agent.mjs");
const DONE = { submit: { verdict: "APPROVED", summary: "One page." } };
const bash = (command: string): JsonObject => ({ permit: { tool_name: "Bash", input: { command } } });

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.close());

/** Starts a run with one stage, whose agent takes these steps. */
async function start(steps: readonly JsonObject[], player: JsonObject = {}, limits: JsonObject = {}): Promise<string> {
  const file = join(bench.dir, "script.json");
  writeFileSync(file, JSON.stringify({ spec: [steps, []] }));
  const claude = { runner: "claude", command: [process.execPath, AGENT, file], permission: "ask", ...player };
  const facts = { runners: { "*": claude }, config: { limits: { "*": limits } } };
  const { id } = await bench.run(onlyStages("feature", ["spec"]), {}, { facts, wait: false });
  return id;
}

const asked = (runId: string): Promise<InboxItem> =>
  until("a person is asked", async () => openItems(await bench.load(runId))[0]);

async function answer(runId: string, item: InboxItem, word: string): Promise<string | undefined> {
  const body = { type: "item.answered", number: item.number, kind: "choice", answer: word, text: "" } as const;
  return (await bench.passrail.engine.deliver(runId, body, "human:tester")).ignored;
}

/** What the program was told, request by request. */
const told = (): readonly JsonObject[] =>
  lines("script.json.tools").flatMap((line) => {
    const text = (JSON.parse(line) as { result: { content: { text: string }[] } }).result.content[0]?.text ?? "";
    return text.startsWith("{") ? [JSON.parse(text) as JsonObject] : [];
  });

function lines(name: string): readonly string[] {
  const path = join(bench.dir, name);
  return existsSync(path) ? readFileSync(path, "utf8").trim().split("\n") : [];
}

const eventsOf = async (runId: string, type: RunEvent["type"]) =>
  (await bench.events(runId)).filter((event) => event.type === type);
const logOf = (runId: string): string =>
  readFileSync(join(bench.home, "runs", runId, "spec-1", "events.jsonl"), "utf8");

test("a yes is for exactly that request: once for once, the same command for the attempt, and a no is a no", async () => {
  const hidden = "echo \u202esafe\u001b[2K";
  const runId = await start([bash("npm test"), bash("npm test"), bash("npm test"), bash(hidden), DONE]);
  const first = await asked(runId);
  expect(first).toMatchObject({ kind: "choice", stage: "spec", choices: { once: "self", deny: "self" } });
  expect(JSON.stringify(first)).toContain("Bash: npm test");
  expect((await bench.load(runId)).status).toBe("running");
  expect(await answer(runId, first, "maybe")).toContain("not offered");
  expect(await answer(runId, first, "once")).toBeUndefined();

  const second = await until("it asks again", async () => {
    const item = await asked(runId);
    return item.number === first.number ? undefined : item;
  });
  await answer(runId, second, "for-this-attempt");
  // The third request is granted already: the next question is about the other command.
  const last = await until("it asks about the other command", async () => {
    const item = await asked(runId);
    return item.number === second.number ? undefined : item;
  });
  // Nothing in it can hide.
  expect(last).toMatchObject({ questions: [String.raw`Bash: echo \u{202e}safe\u{1b}[2K`, expect.any(String)] });
  await answer(runId, last, "deny");
  await bench.passrail.engine.idle();

  const input = { command: "npm test" };
  expect(told()).toEqual([
    ...Array.from({ length: 3 }, () => ({ behavior: "allow", updatedInput: input })),
    { behavior: "deny", message: expect.stringContaining("did not allow") },
  ]);
  expect(await eventsOf(runId, "question.asked")).toHaveLength(3);
  expect((await eventsOf(runId, "question.answered")).map((event) => "answer" in event && event.answer)).toEqual([
    "once",
    "for-this-attempt",
    "deny",
  ]);
  expect((await bench.load(runId)).status).toBe("completed");
  expect(bench.notices.map(({ event }) => event)).toContain("choice");
  expect(logOf(runId)).toContain('"kind":"denied"');
});

test("silence denies, the limits of the attempt stand still meanwhile, and a late yes is refused", async () => {
  // Its limits are shorter than the wait.
  const limits = { permissionMs: 3_000, idleMs: 2_000, totalMs: 20_000 };
  const runId = await start([bash("npm publish"), DONE], {}, limits);
  const item = await asked(runId);
  await bench.passrail.engine.idle();
  expect(told()).toEqual([{ behavior: "deny", message: expect.any(String) }]);
  expect(await eventsOf(runId, "question.answered")).toMatchObject([{ answer: "deny", actor: "engine" }]);
  expect(await answer(runId, item, "once")).toBeDefined();
  expect((await bench.load(runId)).status).toBe("completed");
});

test("a request goes with its attempt: canceled, its item is withdrawn and its agent is gone", async () => {
  const runId = await start([bash("npm publish"), DONE]);
  const { number } = await asked(runId);
  await bench.passrail.engine.deliver(runId, { type: "cancel.requested", reason: "enough" }, "human:tester");
  await bench.passrail.engine.idle();
  expect(await eventsOf(runId, "item.withdrawn")).toMatchObject([{ number }]);
  expect(await bench.passrail.store.inbox()).toEqual([]);
  expect(told()).toEqual([]);
});

test("edit asks nobody: what leads out of the workspace is refused, everything else is allowed, and both are told", async () => {
  const outside = join(bench.dir, "precious");
  const write = (path: string): JsonObject => ({
    permit: { tool_name: "Write", input: { file_path: path, content: "x" } },
  });
  const steps = [bash(`rm -rf ${outside}`), bash("npm test"), write("a.txt"), write(`${outside}/a.txt`), DONE];
  const runId = await start(steps, { permission: "edit" });
  await bench.passrail.engine.idle();
  expect(told().map(({ behavior }) => behavior)).toEqual(["deny", "allow", "allow", "deny"]);
  expect(await eventsOf(runId, "question.asked")).toEqual([]);
  expect(logOf(runId)).toContain(`rm -rf ${outside}`);
  expect((await bench.load(runId)).status).toBe("completed");
});

test("what the first round was refused stays known when the verdict is asked for once more", async () => {
  const denials = [{ tool_name: "Bash", tool_input: { command: "rm -rf build" } }];
  const file = join(bench.dir, "script.json");
  const rounds = [[{ say: "I may not." }, { result: { permission_denials: denials } }], [{ say: "Still no verdict." }]];
  writeFileSync(file, JSON.stringify({ spec: rounds }));
  const claude = { runner: "claude", command: [process.execPath, AGENT, file] };
  const run = await bench.run(onlyStages("feature", ["spec"]), {}, { facts: { runners: { "*": claude } } });
  const [finished] = await eventsOf(run.id, "stage.finished");
  expect(finished).toMatchObject({ outcome: { cause: "denied", reason: expect.stringContaining("rm -rf build") } });
  const [record] = await bench.passrail.store.attempts(run.id);
  expect(attemptFacts(record ?? { facts: {} })).toMatchObject({ repaired: true });
  expect(JSON.stringify(record?.facts)).toContain("rm -rf build");
});
