// What people see and do about money and about waits, by the real program on a store that the real engine wrote.

import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { NO_BUDGETS } from "../../../src/core/budget/budget.ts";
import type { Report } from "../../../src/core/flow/outcome.ts";
import { flowOf, openScripted } from "../../harness/scripted-engine.ts";
import { type Bench, openBench } from "./bench.ts";

vi.setConfig({ testTimeout: 120_000 });

let bench: Bench;
beforeEach(() => {
  bench = openBench();
});
afterEach(() => bench.remove());

const used = (usd: number | null, inputTokens: number | null): Report => ({
  structured: true,
  verdict: "pass",
  usage: { runner: "claude", model: "opus-4", usage: { usd, inputTokens, outputTokens: 10, cachedTokens: 5 } },
});

/** One completed run, one that waits for its budget, one that waits for a limit to pass; all of it now. */
async function fill(withLate = true): Promise<void> {
  const reports: Record<string, Report> = {
    plan: used(0.25, 1000),
    build: used(null, 500),
    late: { cause: "quota", reason: "5-hour limit", resetsAt: new Date(Date.now() + 3 * 3_600_000).toISOString() },
  };
  const scripted = await openScripted({
    home: bench.home,
    agent: ({ stage }) => reports[stage.id] ?? {},
    metered: (stage) =>
      stage === "late" ? null : { runner: "claude", model: "opus", reserveUsd: 2, reserveTokens: 9 },
    budgets: (run) => ({ ...NO_BUDGETS, run: { usd: run.id === "poor" ? 3 : null, tokens: null } }),
  });
  scripted.setWall(Date.now());
  const stages = [
    { id: "plan", agent: "planner" },
    { id: "build", agent: "builder" },
  ];
  await scripted.start("done", flowOf(stages));
  await scripted.until("done", "is completed", ({ status }) => status === "completed");
  await scripted.start("poor", flowOf([...stages, { id: "check", agent: "checker" }]));
  await scripted.until("poor", "waits", ({ status }) => status === "waiting");
  if (withLate) {
    await scripted.start("late", flowOf([{ id: "late", agent: "builder" }]));
    await scripted.until("late", "is put off", (run) => run.stages["late"]?.attempts === 2);
  }
  await scripted.close();
}

test("R-X-10: cost by agent, stage, run and so on, with totals, and unknown where it is unknown", async () => {
  expect(await bench.passrail(["cost"])).toMatchObject({
    code: 0,
    out: "",
    err: expect.stringContaining("No costs yet"),
  });
  await fill();
  const plain = await bench.passrail(["cost", "--by", "stage"]);
  const cells = plain.out.split("\n").map((line) => line.split("\t").slice(0, 8));
  expect(cells).toEqual([
    ["build", "2", "", "2", "4", "1000", "10", "20"],
    ["plan", "2", "0.5", "0", "0", "2000", "10", "20"],
    [""],
  ]);
  const json = JSON.parse((await bench.passrail(["cost", "1", "--by", "agent", "--json"])).out) as Record<
    string,
    unknown
  >;
  expect(json).toMatchObject({
    by: "agent",
    run: "done",
    rows: [
      { key: "builder", usd: 0, unknownUsd: 1, assumedUsd: 2 },
      { key: "planner", usd: 0.25, unknownUsd: 0 },
    ],
    total: { attempts: 2, usd: 0.25, unknownUsd: 1, assumedUsd: 2, inputTokens: 1500 },
    completed: { runs: 1, usdPerRun: 0.25, withUnknownCost: 1 },
  });
  expect((await bench.passrail(["cost", "--since", "1d", "--by", "runner"])).out).toMatch(/^claude\t4\t/u);
  expect((await bench.passrail(["cost", "--since", "2099-01-01"])).out).toBe("");
  for (const wrong of [
    ["--by", "moon"],
    ["--since", "lately"],
  ])
    expect(await bench.passrail(["cost", ...wrong])).toMatchObject({ code: 2 });
  const shown = JSON.parse((await bench.passrail(["runs", "show", "1", "--json"])).out) as Record<string, unknown>;
  expect(shown["spent"]).toEqual({ attempts: 2, usd: 0.25, unknownUsd: 1, tokens: 1520, unknownTokens: 0 });
});

test("the inbox names what is left, what is needed and the exact command; wrong answers change nothing", async () => {
  await fill();
  const inbox = JSON.parse((await bench.passrail(["inbox", "--json"])).out) as { items: Record<string, unknown>[] };
  expect(inbox.items).toMatchObject([
    {
      kind: "budget",
      stage: "check",
      scope: "run",
      used: 2.25,
      limit: 3,
      needed: 2,
      commands: ["passrail budget raise 2.1 --by 3", "passrail budget stop 2.1"],
    },
  ]);
  const shown = await bench.passrail(["runs", "show", "2"]);
  expect(shown.out).toContain("budget check waits for owner");
  const plain = await bench.passrail(["inbox"]);
  expect(plain.out).toContain("the run's budget of $3.00 has $0.75 left, about $2.00 is needed");
  const refused = await bench.passrail(["budget", "raise", "2.1", "--by", "5 tokens"]);
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('"5 tokens" is no amount in usd') });
  expect((await bench.passrail(["budget", "stop", "2.1"], { env: { PASSRAIL_MARKER: "x/y" } })).err).toContain(
    "operator_only",
  );
  const none = await bench.passrail(["budget", "stop", "1"]);
  expect(none).toMatchObject({ code: 1, err: expect.stringContaining("budget_not_waiting") });
});

test("letting it stop stops the run, and saying so again is fine", async () => {
  await fill(false);
  const stopped = await bench.passrail(["budget", "stop"]);
  expect(stopped).toMatchObject({ code: 5 });
  expect(stopped.out).toContain("a person let it stop: the run's budget of $3.00 has $0.75 left");
  expect(await bench.passrail(["budget", "stop", "2.1"])).toMatchObject({ code: 0 });
  expect((await bench.passrail(["budget", "raise", "2.1"])).err).toContain("it was answered: stop");
  expect((await bench.passrail(["verify"])).code).toBe(0);
});

test("a run that waits for a limit to pass says when it goes on, in the list and in full", async () => {
  await fill();
  const time = /resumes (\d{4}-\d{2}-\d{2} )?\d{2}:\d{2} \(quota\)/u;
  expect((await bench.passrail(["runs", "list"])).out.split("\n")[0]).toMatch(time);
  expect((await bench.passrail(["runs", "show", "3"])).out).toMatch(time);
  const list = JSON.parse((await bench.passrail(["runs", "list", "--json"])).out) as { runs: { resumes: string }[] };
  expect(list.runs.map(({ resumes }) => resumes !== "")).toEqual([true, false, false]);
});
