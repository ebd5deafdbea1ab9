// Attempts that are conversations: a program that talks like Claude Code plays the agents, the engine and the desk are real.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { ResolvedFlow } from "../../../src/core/flow/agent.ts";
import type { RunEvent } from "../../../src/core/run/event.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { openItems, type Run } from "../../../src/core/run/run.ts";
import { onlyStages } from "../../harness/custom-flow.ts";
import { handoffText } from "../../harness/handoff-text.ts";
import { openWorkbench, resolveShipped, verdictsOf, type Workbench } from "../../harness/workbench.ts";

const AGENT = join(import.meta.dirname, "../../fixtures/agents/coding-agent.mjs");
const APPROVED = { verdict: "APPROVED", summary: "One page." };

type Steps = readonly JsonObject[];
type Told = {
  readonly stage: string;
  readonly session: string;
  readonly resumed: boolean;
  readonly prompt: string;
  readonly args: readonly string[];
  readonly env: Record<string, string>;
};

let bench: Workbench;
beforeEach(async () => {
  bench = await openWorkbench();
});
afterEach(() => bench.close());

/** Runs a flow whose stages are played by the script; `player` says how. */
async function play(flow: ResolvedFlow, script: Readonly<Record<string, readonly Steps[]>>, player: JsonObject = {}) {
  const file = join(bench.dir, "script.json");
  writeFileSync(file, JSON.stringify(script));
  const command = [process.execPath, AGENT, file];
  const claude = { runner: "claude", command, ...player };
  const run = await bench.run(flow, {}, { facts: { runners: { "*": claude, route: claude } } });
  return { run, events: await bench.events(run.id) };
}

/** What the agent was told, start by start. */
function told(): readonly Told[] {
  return lines("script.json.log").map((line) => JSON.parse(line) as Told);
}

/** What the desk answered, call by call. */
function answers(): readonly string[] {
  return lines("script.json.tools").map((line) => {
    const { result } = JSON.parse(line) as { result: { content: { text: string }[]; isError?: boolean } };
    return `${result.isError === true ? "refused: " : ""}${result.content[0]?.text ?? ""}`;
  });
}

function lines(name: string): readonly string[] {
  const path = join(bench.dir, name);
  return existsSync(path)
    ? readFileSync(path, "utf8")
        .split("\n")
        .filter((line) => line !== "")
    : [];
}

const warningsOf = (events: readonly RunEvent[]) =>
  events.flatMap((event) => (event.type === "warning.raised" ? [event.message] : []));
const causeOf = (events: readonly RunEvent[]) =>
  events.flatMap((event) => (event.type === "stage.finished" ? [event.outcome.cause] : []));
const spec = () => onlyStages("feature", ["spec"]);

describe("the verdict", () => {
  test("S07: an accepted verdict is final: a program that goes on is ended, and its verdict is kept", async () => {
    const { run, events } = await play(spec(), { spec: [[{ submit: APPROVED }, { hang: true }]] });
    expect(run.status).toBe("completed");
    expect(verdictsOf(events)).toEqual(["spec:APPROVED"]);
    expect(warningsOf(events)).toEqual([expect.stringContaining("ended_after_verdict")]);
  });

  test("S07: the token of the desk alone is not enough: a call without the attempt's nonce is refused", async () => {
    const qa = onlyStages("feature", ["qa"]);
    const forged = { verdict: "SHIP", summary: "All is well." };
    const { events } = await play(qa, { qa: [[{ submit: { ...forged, nonce: "0".repeat(32) } }, { say: "Bye." }]] });
    // The repair round is refused, too.
    expect(answers().map((answer) => answer.split(":")[0])).toEqual(["refused", "refused"]);
    expect(verdictsOf(events)).not.toContain("qa:SHIP");
  });

  test("S07: what is accepted at the desk counts; the prompt names the tool, and what was said is kept", async () => {
    const { run, events } = await play(spec(), { spec: [[{ submit: { ...APPROVED, issues: [] } }, { say: "Bye." }]] });
    expect(run.status).toBe("completed");
    expect(verdictsOf(events)).toEqual(["spec:APPROVED"]);
    expect(told()[0]?.prompt).toContain("submit_verdict");
    const submission = readFileSync(join(bench.home, "runs", run.id, "spec-1", "submission.json"), "utf8");
    expect(JSON.parse(submission)).toEqual({ ...APPROVED, issues: [], nonce: "[nonce]" });
    const happened = readFileSync(join(bench.home, "runs", run.id, "spec-1", "events.jsonl"), "utf8");
    expect(happened).toContain('"type":"tool.called"');
  });

  test("what is wrong is said to the agent at once, so that it corrects itself; only then it counts", async () => {
    const { events } = await play(spec(), {
      spec: [
        [{ submit: { verdict: "SHIP", summary: "s" } }, { submit: { verdikt: "APPROVED" } }, { submit: APPROVED }],
      ],
    });
    expect(verdictsOf(events)).toEqual(["spec:APPROVED"]);
    expect(warningsOf(events)).toEqual([]);
    const [first, second, third] = answers();
    expect(first).toMatch(/^refused: .*APPROVED/su);
    expect(second).toMatch(/^refused: .*verdikt/su);
    expect(third).toMatch(/^Accepted/u);
  });

  test("S07: the first accepted verdict counts; a second one is refused, whatever it says", async () => {
    const second = { verdict: "REJECT", summary: "no", issues: [{ description: "all of it" }] };
    const { events } = await play(spec(), { spec: [[{ submit: APPROVED }, { submit: second }]] });
    expect(verdictsOf(events)).toEqual(["spec:APPROVED"]);
    expect(answers()[1]).toMatch(/^refused: Not taken/u);
  });

  test("S07: a verdict that is only said counts by the rules of text, and one in a tool's output does not count at all", async () => {
    const block = (verdict: string) => `\`\`\`json\n{"verdict":"${verdict}","agent":"IN1","feature_id":"F-1"}\n\`\`\``;
    const { events } = await play(spec(), {
      spec: [[{ submit: { said: block("REJECT") } }, { say: `Done.\n${block("APPROVED")}` }]],
    });
    expect(verdictsOf(events)).toEqual(["spec:APPROVED"]);
  });

  test("one repair in the same session, with the exact reason; then it has failed and its words are kept", async () => {
    const { run, events } = await play(spec(), { spec: [[{ say: "All is well." }], [{ say: "Really." }]] });
    const [first, second, ...more] = told();
    expect(more).toEqual([]);
    expect(second).toMatchObject({ resumed: true, session: first?.session });
    expect(second?.prompt).toContain("Your verdict was not accepted because");
    expect(second?.prompt).not.toContain("# IN1");
    expect(causeOf(events)).toEqual(["verdict_missing"]);
    expect(openItems(run)).toMatchObject([{ kind: "escalation" }]);
    const summary = events.flatMap((event) => (event.type === "stage.finished" ? [event.outcome.summary] : []));
    expect(summary).toEqual(["All is well."]);
  });

  test("a repaired verdict counts, and says that it was repaired", async () => {
    const { events } = await play(spec(), { spec: [[{ say: "All is well." }], [{ submit: APPROVED }]] });
    expect(verdictsOf(events)).toEqual(["spec:APPROVED"]);
    expect(warningsOf(events).join("\n")).toContain("verdict_repaired");
  });

  test("an accepted verdict survives a rough end of the vendor, not a crash of the program", async () => {
    const down = { is_error: true, api_error_status: 500, terminal_reason: "api_error", result: "API Error: 500" };
    const rough = await play(spec(), { spec: [[{ submit: APPROVED }, { result: down }, { exit: 1 }]] });
    expect(verdictsOf(rough.events)).toEqual(["spec:APPROVED"]);
    expect(warningsOf(rough.events).join("\n")).toContain("ended_after_verdict");
  });

  test("where a flow hands a file on, it has to be there and to say the same before a verdict is taken", async () => {
    const write = (verdict: string) => ({ write: { path: "$HANDOFF_FILE", text: handoffText({ verdict }) } });
    const submit = { submit: { verdict: "APPROVED", summary: "Looked at all of it." } };
    const { run, events } = await play(onlyStages("build-plan-standard", ["test"]), {
      test: [[submit, write("REQUEST_CHANGES"), submit, write("APPROVED"), submit]],
    });
    const [missing, other, accepted] = answers();
    expect(missing).toMatch(/^refused: Write .*handoff\.md first/su);
    expect(other).toMatch(/^refused: .*handoff\.md says something else/su);
    expect(accepted).toMatch(/^Accepted/u);
    expect(verdictsOf(events)).toEqual(["test:APPROVED"]);
    expect(run.status).toBe("completed");
  });
});

describe("questions and permissions", () => {
  test("ask_human opens a question; the answer goes into the same session, without the whole prompt again", async () => {
    const { run, events } = await play(spec(), {
      spec: [[{ ask: { question: "Which database?", options: ["SQLite", "Postgres"] } }], [{ submit: APPROVED }]],
    });
    expect(openItems(run)).toMatchObject([
      { kind: "question", questions: ["Which database?\nOptions: SQLite | Postgres"] },
    ]);
    expect(verdictsOf(events)).toEqual(["spec:blocked"]);
    await bench.answer(run, "question", "", "Postgres, please");
    expect((await bench.load(run.id)).status).toBe("completed");
    const [first, second] = told();
    expect(second).toMatchObject({ resumed: true, session: first?.session });
    expect(second?.prompt).toContain("Postgres, please");
    expect(second?.prompt).not.toContain("# IN1");
  });

  test("session: clean begins a new session after an answer, with the whole prompt and the answer in it", async () => {
    const { run } = await play(
      spec(),
      { spec: [[{ ask: { question: "Which database?" } }], [{ submit: APPROVED }]] },
      { session: "clean" },
    );
    await bench.answer(run, "question", "", "Postgres, please");
    expect((await bench.load(run.id)).status).toBe("completed");
    const [first, second] = told();
    expect(second?.resumed).toBe(false);
    expect(second?.session).not.toBe(first?.session);
    expect(second?.prompt).toContain("# IN1");
    expect(second?.prompt).toContain("Postgres, please");
  });

  test("R-002-36: an agent of a build plan has no tool to ask a person, and its handoff's questions reach the person", async () => {
    const handoff = handoffText({ status: "blocked", reason: "unclear", questions: ["Which database?"] });
    const { run } = await play(onlyStages("build-plan-standard", ["dev"]), {
      dev: [[{ ask: { question: "May I?" } }, { write: { path: "$HANDOFF_FILE", text: handoff } }]],
    });
    expect(lines("script.json.tools")[0]).toContain("error");
    expect(openItems(run)).toMatchObject([{ kind: "question", questions: ["Which database?"] }]);
    await bench.answer(run, "question", "", "Postgres, please");
    expect(told().map(({ resumed }) => resumed)).toEqual([false, false]);
  });

  test("R-001-03: a router is one call of a small model, which may answer with 500 tokens; other stages have no such limit", async () => {
    const stages = [{ agent: "builder", teams: false }];
    const { events } = await play(resolveShipped("routed"), { route: [[{ submit: { stages, summary: "small" } }]] });
    const [router, ...others] = told();
    expect(router).toMatchObject({ stage: "route", env: { CLAUDE_CODE_MAX_OUTPUT_TOKENS: "500" } });
    expect(router?.args).toContain("--model=haiku");
    expect(others.filter(({ stage }) => stage === "route")).toEqual([]);
    expect(others[0]?.stage).toBe("builder");
    expect(others[0]?.env).not.toHaveProperty("CLAUDE_CODE_MAX_OUTPUT_TOKENS");
    expect(causeOf(events)[0]).toBeUndefined();
  });

  test("questions: deny leaves the tool out", async () => {
    await play(spec(), { spec: [[{ ask: { question: "May I?" } }, { submit: APPROVED }]] }, { questions: "deny" });
    expect(lines("script.json.tools")[0]).toContain("error");
  });

  test.each([
    ["ask", "question"],
    ["edit", "escalation"],
  ])(
    "permission %s: an agent that was refused and gave no verdict leads to a %s, never to consent",
    async (permission, kind) => {
      const denials = [{ tool_name: "Bash", tool_input: { command: "rm -rf build" } }];
      const { run, events } = await play(
        spec(),
        { spec: [[{ say: "I may not." }, { result: { permission_denials: denials } }]] },
        { permission },
      );
      expect(openItems(run)).toMatchObject([{ kind }]);
      expect(JSON.stringify(openItems(run))).toContain("rm -rf build");
      expect(causeOf(events)).toEqual([kind === "question" ? undefined : "denied"]);
    },
  );
});

describe("sessions", () => {
  const loop = () => onlyStages("feature", ["build", "qa"]);
  const script = {
    build: [
      [{ write: { path: "sum.txt", text: "a - b" } }, { submit: { verdict: "COMPLETE", summary: "built" } }],
      [{ submit: { verdict: "COMPLETE", summary: "fixed" } }],
    ],
    qa: [
      [{ submit: { verdict: "REVISE", summary: "no", issues: [{ description: "it subtracts" }] } }],
      [
        {
          submit: { verdict: "SHIP", summary: "yes", findings: [{ id: "F1", state: "fixed", reason: "it adds" }] },
        },
      ],
    ],
  };

  test("a revision starts with a fresh context and is told everything", async () => {
    const { run } = await play(loop(), script);
    expect(run.status).toBe("completed");
    const [first, second] = told().filter(({ stage }) => stage === "build");
    expect(second).toMatchObject({ resumed: false });
    expect(second?.session).not.toBe(first?.session);
    expect(second?.prompt).toContain("# IN2");
    expect(second?.prompt).toContain("it subtracts");
  });

  test("session: resume goes on where the attempt before ended, and is told only what is new", async () => {
    const { run } = await play(loop(), script, { session: "resume" });
    expect(run.status).toBe("completed");
    const [first, second] = told().filter(({ stage }) => stage === "build");
    expect(second).toMatchObject({ resumed: true, session: first?.session });
    expect(second?.prompt).toContain("it subtracts");
    expect(second?.prompt).not.toContain("# IN2");
  });

  test("a session that is gone costs its memory and nothing else", async () => {
    const lost = {
      is_error: true,
      subtype: "error_during_execution",
      errors: ["No conversation found with session ID: x"],
      result: undefined,
    };
    const { run } = await play(
      loop(),
      { ...script, build: [script.build[0] ?? [], [{ result: lost }, { exit: 1 }], script.build[1] ?? []] },
      { session: "resume" },
    );
    expect(run.status).toBe("completed");
    expect(told().filter(({ stage }) => stage === "build")).toMatchObject([
      { resumed: false },
      { resumed: true },
      { resumed: false },
    ]);
  });
});

describe("accounts", () => {
  test("R-X-10: what an attempt used is recorded, its repair included; the difference where the vendor counts on", async () => {
    const { events } = await play(spec(), {
      spec: [[{ say: "hm" }], [{ submit: APPROVED }, { result: { total_cost_usd: 0.4 } }]],
    });
    const used = events.flatMap((event) => (event.type === "usage.recorded" ? [event.usage] : []));
    expect(used).toHaveLength(1);
    expect(used[0]?.usd).toBeCloseTo(0.4, 5);
    expect(used[0]).toMatchObject({ inputTokens: 200, outputTokens: 40, cachedTokens: 100 });
  });

  test("a quota parks the stage until the time that the vendor names, and no loop is used up", async () => {
    const soon = Math.floor(Date.now() / 1000) + 6;
    const limited = {
      is_error: true,
      api_error_status: 429,
      terminal_reason: "api_error",
      result: `Claude AI usage limit reached|${soon}`,
    };
    const { run, events } = await play(spec(), { spec: [[{ result: limited }, { exit: 1 }], [{ submit: APPROVED }]] });
    expect(run.status).toBe("completed");
    const postponed = events.flatMap((event) => (event.type === "stage.postponed" ? [event] : []));
    expect(postponed).toMatchObject([{ stage: "spec", until: new Date(soon * 1000).toISOString() }]);
    expect(run.counters).toEqual({});
  });

  test("not being logged in is said with the fix and not tried again", async () => {
    const denied = { is_error: true, api_error_status: 401, terminal_reason: "api_error", result: "Invalid API key" };
    const { run, events } = await play(spec(), { spec: [[{ result: denied }, { exit: 1 }]] });
    expect(causeOf(events)).toEqual(["auth"]);
    expect(openItems(run)).toMatchObject([{ kind: "escalation" }]);
    expect(told()).toHaveLength(1);
  });
});

describe("secrets", () => {
  test("S09, R-X-13: what the parent keeps secret never reaches the agent, nor what is kept of its output", async () => {
    const canary = "canary-Zx81kQpWm4TtR7";
    process.env["SOME_SERVICE_TOKEN"] = canary;
    try {
      await bench.restart();
      const { run } = await play(spec(), {
        spec: [
          [
            { say: `the token is ${canary}` },
            { submit: { ...APPROVED, summary: Buffer.from(canary).toString("base64") } },
          ],
        ],
      });
      expect(told()[0]?.env).not.toHaveProperty("SOME_SERVICE_TOKEN");
      const folder = join(bench.home, "runs", run.id, "spec-1");
      for (const name of ["output.log", "events.jsonl", "submission.json"]) {
        const text = readFileSync(join(folder, name), "utf8");
        expect(text).not.toContain(canary);
        expect(text).not.toContain(Buffer.from(canary).toString("base64"));
        expect(text).toContain("[REDACTED:");
      }
      expect(JSON.stringify(await bench.events(run.id))).not.toContain(canary);
    } finally {
      delete process.env["SOME_SERVICE_TOKEN"];
    }
  });
});

test("a run that is canceled while its agent works leaves no process, and what was used by then is booked or assumed", async () => {
  const file = join(bench.dir, "script.json");
  writeFileSync(file, JSON.stringify({ spec: [[{ hang: true }]] }));
  const player = { runner: "claude", command: [process.execPath, AGENT, file] };
  const run: Run = await bench.run(spec(), {}, { facts: { runners: { "*": player } }, wait: false });
  await expect.poll(() => told().length, { timeout: 20_000 }).toBe(1);
  await bench.passrail.engine.deliver(run.id, { type: "cancel.requested", reason: "enough" }, "human:tester");
  await bench.passrail.engine.idle();
  expect((await bench.load(run.id)).status).toBe("canceled");
  const pid = (await bench.passrail.store.attempts(run.id))[0]?.facts["process"] as { pid: number };
  expect(existsSync(`/proc/${pid.pid}/environ`)).toBe(false);
});
