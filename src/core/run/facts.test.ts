import { expect, test } from "vitest";
import { attemptFacts } from "../attempt-facts.ts";
import { runFacts, ticketProject } from "./facts.ts";

test("a run without any facts has the defaults", () => {
  expect(runFacts({ facts: {} })).toMatchObject({
    config: { project: null, workspace: null, verdictRepair: true, repositorySettings: false, repositoryFiles: [] },
    ticket: { file: null, isTerminal: true, contains: null },
    plan: { spec: null },
  });
});

test("stored facts keep their names", () => {
  const files = [{ path: ".mcp.json", sha256: "ab", for: "claude" }, "junk"];
  const checks = {
    test: { run: ["npm", "test"], timeoutMs: 5, parse: "jest", env: ["CI"] },
    junk: { run: "npm test" },
  };
  const config = {
    checks,
    check_cache: false,
    project: "/p",
    joint: "/home/joint/j1",
    merge_mode: "pr",
    verdict_repair: false,
    repository_settings: true,
    limits: { implement: { totalMs: 7, idleMs: "junk" } },
    repos: ["other", 3],
    budget: { usd: 3, tokens: "junk" },
  };
  const ticket = { id: "AGI-1", file: "f.md", status: "Needs Plan", terminal: false, contains: ["c1"] };
  const facts = runFacts({ facts: { config: { ...config, repository_files: files }, ticket, plan: { spec: "s.md" } } });
  expect(facts.config).toEqual({
    project: "/p",
    workspace: null,
    base: null,
    joint: "/home/joint/j1",
    adoptBranch: false,
    mergeMode: "pr",
    verdictRepair: false,
    repositorySettings: true,
    repositoryFiles: [{ path: ".mcp.json", sha256: "ab", for: "claude" }],
    checks: { test: { run: ["npm", "test"], timeoutMs: 5, parse: "jest", env: ["CI"] } },
    checkCache: false,
    memo: true,
    limits: { implement: { totalMs: 7 } },
    repos: ["other"],
    testFiles: null,
    budget: { usd: 3, tokens: null },
  });
  expect(facts.ticket).toMatchObject({ id: "AGI-1", file: "f.md", isTerminal: false, contains: ["c1"] });
  expect(facts.plan).toEqual({ spec: "s.md", plan: null, task: null });
});

test.each([
  [{ ticket: { project: "/tickets" }, config: { project: "/code" } }, "/tickets"],
  [{ config: { project: "/code" } }, "/code"],
  [{ config: "junk", ticket: [] }, null],
])("the project of the ticket's file: %j", (facts, project) => {
  expect(ticketProject({ facts })).toBe(project);
});

test("facts of an attempt that was cut off are null, and junk is not believed", () => {
  const junk = {
    process: { pid: "7" },
    exitCode: "0",
    usage: [],
    session: {},
    files: [1, "a"],
    trust: [null, {}],
    to: "",
  };
  expect(attemptFacts({ facts: junk })).toMatchObject({
    process: null,
    ended: null,
    exitCode: null,
    usage: null,
    session: null,
    files: ["a"],
    trust: [{ stage: "", iteration: 0, trusted: false, reasons: [] }],
    to: null,
    repaired: false,
    accepted: null,
  });
});

test("facts of a finished attempt", () => {
  const usage = { usd: 0.25, inputTokens: 100, outputTokens: 20, cachedTokens: null };
  const process = { pid: 7, startTime: "1", marker: "m" };
  const accepted = { handoff: 2, payload: { plan: "p" } };
  const stored = {
    process,
    ended: "exited",
    exitCode: 0,
    usage,
    session: { id: "s", totals: usage },
    accepted,
    answer: "",
  };
  expect(attemptFacts({ facts: stored })).toMatchObject(stored);
});
