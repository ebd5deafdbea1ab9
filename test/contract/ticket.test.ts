// Source 004's second end-to-end test with the real Claude Code: one ticket walks from the backlog to the end, on a real remote. Only the
// model behind the program is scripted.

import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Bench, openBench } from "../scenarios/cli/bench.ts";
import type { Rule } from "../fixtures/models/scenario.ts";
import { type FakeModels, startFakeModels } from "../fixtures/models/server.ts";
import { cliPath, contractTests } from "./installed.ts";
import { claude } from "./vendors.ts";

const API_KEY = "sk-ant-api03-tick00000000000000000000000000000000000";
const STAGES = ["research", "spec", "plan", "implement", "validate"] as const;

describe.skipIf(contractTests() === "left out")("a ticket with the real program", { timeout: 240_000 }, () => {
  let models: FakeModels;
  let bench: Bench;
  beforeEach(async () => {
    models = await startFakeModels({ scenario: { rules: STAGES.map(ruleOf) } });
    bench = openBench();
    const home = join(bench.dir, "home-of-claude");
    mkdirSync(home);
    const env = {
      HOME: home,
      PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`,
      ...claude.setUp(home, models.url, API_KEY),
    };
    const settings = {
      runners: { claude: { command: [cliPath("claude")], env } },
      agents: { worker: { runner: "claude", model: claude.model } },
      merge: { mode: "merge", target: "main" },
    };
    const { project } = bench;
    mkdirSync(join(project, "feature_requests", "FR-1"), { recursive: true });
    writeFileSync(join(project, "passrail.yaml"), JSON.stringify(settings));
    writeFileSync(join(project, "feature_requests", "FR-1", "AGI-1.md"), TICKET);
    const remote = join(bench.dir, "remote.git");
    git(bench.dir, "init", "-q", "--bare", "-b", "main", remote);
    git(project, "branch", "-M", "main");
    git(project, "add", "-A");
    git(project, "-c", "user.name=owner", "-c", "user.email=owner@localhost", "commit", "-q", "-m", "One ticket");
    git(project, "remote", "add", "origin", remote);
    git(project, "push", "-q", "-u", "origin", "main");
  });
  afterEach(async () => {
    bench.remove();
    await models.close();
  });

  test("R-004-65: one ticket walks from the backlog to Done, each stage with its own prompt, and its work is in the target", async () => {
    const ended = await bench.passrail(["work", "--once"]);
    expect(ended.code).toBe(0);
    expect(ended.err).toContain("AGI-1: Validate In Progress → Done");
    expect(new Set(models.requests.map(({ rule }) => rule))).toEqual(new Set(STAGES));
    const text = readFileSync(join(bench.project, "feature_requests", "FR-1", "AGI-1.md"), "utf8");
    expect(text).toContain("status: Done\n");
    expect(text).toContain("\nThe body stays.\n");
    git(bench.project, "fetch", "-q", "origin");
    const landed = git(bench.project, "ls-tree", "-r", "--name-only", "origin/main").split("\n");
    for (const stage of STAGES) expect(landed).toContain(`${stage}.txt`);
  });
});

const TICKET = `---
id: AGI-1
title: "Greet people"
description: "A program that greets."
repo: "."
status: Backlog
dependsOn: []
---

The body stays.
`;

/** Each stage writes a file by a real tool call and ends; what it leaves uncommitted is Passrail's to keep. */
function ruleOf(stage: (typeof STAGES)[number]): Rule {
  return {
    id: stage,
    match: { prompt: `Stage: ${stage}` },
    turns: [{ do: [{ write: { path: `${stage}.txt`, content: `${stage}\n` } }] }, { text: `${stage} is done.` }],
  };
}

function git(cwd: string, ...args: readonly string[]): string {
  return execFileSync("git", ["-C", cwd, ...args], { encoding: "utf8", stdio: ["ignore", "pipe", "pipe"] }).trim();
}
