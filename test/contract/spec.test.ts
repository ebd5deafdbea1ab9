// Source 004's first end-to-end test with the real Claude Code: only the model behind it is scripted.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { type Bench, openBench } from "../scenarios/cli/bench.ts";
import { type FakeModels, startFakeModels } from "../fixtures/models/server.ts";
import { cliPath, contractTests } from "./installed.ts";
import { claude } from "./vendors.ts";

const API_KEY = "sk-ant-api03-spec00000000000000000000000000000000000";
const TICKETS = `TICKETS:
- title: "Store users"
  description: |
    Goal: users are kept in SQLite.
  repo: "example/api"
  dependsOn: []
- title: "REST routes for users"
  description: |
    Goal: users over HTTP.
  repo: "example/api"
  dependsOn: ["#1"]
`;

describe.skipIf(contractTests() === "left out")("spec with the real program", { timeout: 180_000 }, () => {
  let models: FakeModels;
  let bench: Bench;
  beforeEach(async () => {
    models = await startFakeModels({ scenario: { rules: [] } });
    bench = openBench();
    const home = join(bench.dir, "home-of-claude");
    mkdirSync(home);
    const env = {
      HOME: home,
      PATH: `${dirname(process.execPath)}:${process.env["PATH"] ?? ""}`,
      ...claude.setUp(home, models.url, API_KEY),
    };
    const runners = { claude: { command: [cliPath("claude")], env } };
    writeFileSync(
      join(bench.project, "passrail.yaml"),
      JSON.stringify({ runners, agents: { spec: { runner: "claude", model: claude.model } } }),
    );
  });
  afterEach(async () => {
    bench.remove();
    await models.close();
  });

  test("R-004-65, R-004-21, R-004-23: one round of questions, one list that is not accepted, then tickets on disk", async () => {
    models.play({
      rules: [
        { id: "repair", match: { prompt: "was not accepted because" }, turns: [{ text: TICKETS }] },
        { id: "answered", match: { prompt: "SQLite, please" }, turns: [{ text: TICKETS.replace('"#1"', '"#9"') }] },
        {
          id: "first",
          match: { prompt: "Build a REST API for user management" },
          turns: [{ text: "QUESTIONS:\n1. Which database?\n" }],
        },
      ],
    });
    writeFileSync(join(bench.project, "answers.yaml"), "database: SQLite, please\n");
    const ended = await bench.passrail(["spec", "Build a REST API for user management", "--answers", "answers.yaml"]);
    expect(ended).toMatchObject({
      code: 0,
      out: "Created 2 ticket(s):\n  - feature_requests/FR-1/AGI-1.md\n  - feature_requests/FR-1/AGI-2.md\n",
    });
    expect(models.requests.map(({ rule }) => rule)).toEqual(expect.arrayContaining(["first", "answered", "repair"]));
    const repair = models.requests.find(({ rule }) => rule === "repair");
    // The reason reached the agent, in the session in which it had answered.
    expect(JSON.stringify(repair?.body).includes("which is not another ticket of this list")).toBe(true);
    const text = readFileSync(join(bench.project, "feature_requests/FR-1/AGI-2.md"), "utf8");
    expect(parse(text.split("---\n")[1] ?? "")).toMatchObject({ dependsOn: ["AGI-1"], status: "Backlog" });
  });
});
