// Every limit and time that the acceptance list names is in `passrail settings`, with its default and where it comes from; each can be
// changed, and a change is effective.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Bench, openBench } from "./bench.ts";

vi.setConfig({ testTimeout: 180_000 });

let bench: Bench;
beforeEach(() => {
  bench = openBench();
});
afterEach(() => bench.remove());

/** A loop is a repeat: three attempts are two loops. Number of the statement, name in the listing, default as shown, another value in passrail.yaml, and how that is shown. */
const LIMITS: readonly (readonly [statement: string, name: string, byDefault: unknown, set: object, shown: unknown])[] =
  [
    ["R-000-09", "verdict_repair", true, { verdict_repair: false }, false],
    ["R-000-18", "agent_limits", {}, { agents: { IN2: { limit: 2 } } }, { in2: 2 }],
    ["R-000-20", "flows.feature.loops.revision", 2, { flows: { feature: { loops: { revision: 4 } } } }, 4],
    [
      "R-000-24",
      "limits.*",
      expect.objectContaining({ total: expect.stringContaining("or 30m") }),
      { limits: { "*": { total: "45m" } } },
      expect.objectContaining({ total: "45m" }),
    ],
    ["R-001-05", "router.fallback", "as the flow says", { router: { fallback: "stop" } }, "stop"],
    ["R-001-16", "agents", {}, { agents: { builder: { max_turns: 20 } } }, { builder: { max_turns: 20 } }],
    ["R-001-34", "heartbeat.tick", "1m", { heartbeat: { tick: "30s" } }, "30s"],
    ["R-001-35", "heartbeat.stalled_after", "30m", { heartbeat: { stalled_after: "10m" } }, "10m"],
    [
      "R-001-35",
      "limits.*",
      expect.objectContaining({ idle: expect.stringContaining("or 15m") }),
      { limits: { "*": { idle: "5m" } } },
      expect.objectContaining({ idle: "5m" }),
    ],
    [
      "R-002-17",
      "flows.build-plan-standard.loops.dod",
      5,
      { flows: { "build-plan-standard": { loops: { dod: 2 } } } },
      2,
    ],
    ["R-001-22", "flows.routed.loops.review", 2, { flows: { routed: { loops: { review: 1 } } } }, 1],
    [
      "R-002-21",
      "flows.build-plan-standard.loops.test",
      2,
      { flows: { "build-plan-standard": { loops: { test: 1 } } } },
      1,
    ],
    ["R-003-32", "flows.story.loops.review", 2, { flows: { story: { loops: { review: "none" } } } }, "none"],
    ["R-003-33", "flows.story.stale_after", "30m", { flows: { story: { stale_after: "45m" } } }, "45m"],
    ["R-003-34", "flows.story.lease", "30m", { flows: { story: { lease: "20m" } } }, "20m"],
    ["R-004-22", "flows.intake.loops.clarify", 3, { flows: { intake: { loops: { clarify: 1 } } } }, 1],
    ["R-004-45", "merge.mode", "auto", { merge: { mode: "pr" } }, "pr"],
    ["R-004-47", "workspaces.keep", false, { workspaces: { keep: true } }, true],
    ["R-004-53", "flows.ticket.loops.validate", 2, { flows: { ticket: { loops: { validate: 5 } } } }, 5],
    ["R-004-57", "tickets.idle_sleep", "30s", { tickets: { idle_sleep: "5s" } }, "5s"],
    ["R-004-58", "slots", 3, { slots: 7 }, 7],
    [
      "R-X-08",
      "budgets",
      expect.objectContaining({ run: { usd: 25, tokens: 50_000_000 } }),
      { budgets: { run: { usd: 1 } } },
      expect.objectContaining({ run: { usd: 1, tokens: 50_000_000 } }),
    ],
  ];

type Listed = {
  readonly settings: readonly { readonly name: string; readonly value: unknown; readonly from: string }[];
};

async function listed(settings: object): Promise<Listed["settings"]> {
  const folder = join(bench.dir, "config", "passrail");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "passrail.yaml"), JSON.stringify(settings));
  const { out, err } = await bench.passrail(["settings", "--json"]);
  expect(err).toBe("");
  return (JSON.parse(out) as Listed).settings;
}

/** All of them in one file; objects of the same key are joined. */
function joined(one: object, other: object): object {
  const entries = Object.entries(other).map(([key, value]) => {
    const known = (one as Record<string, unknown>)[key];
    const both = typeof known === "object" && known !== null && typeof value === "object" && value !== null;
    return [key, both ? joined(known, value as object) : value] as const;
  });
  return { ...one, ...Object.fromEntries(entries) };
}

test("R-X-15: one command lists every limit and time with its default, and after a change with the new value and its origin", async () => {
  const before = await listed({});
  const after = await listed(LIMITS.map(([, , , set]) => set).reduce(joined));
  for (const [statement, name, byDefault, , shown] of LIMITS) {
    const found = (rows: Listed["settings"]) => rows.find((row) => row.name === name);
    const from = name.startsWith("flows.") ? "flow" : "default";
    expect.soft([statement, found(before)]).toEqual([statement, { name, value: byDefault, from }]);
    const wanted = name === "agents" ? expect.objectContaining(shown as object) : shown;
    expect.soft([statement, found(after)]).toEqual([statement, { name, value: wanted, from: "user" }]);
  }
});

test("R-X-15: a changed number of loops decides: with none the first REVISE escalates, and an unknown counter is an error", async () => {
  const script = {
    spec: [{ via: "json-tail", verdict: "APPROVED" }],
    design: [{ via: "json-tail", verdict: "APPROVED" }],
    build: [{ via: "json-tail", verdict: "COMPLETE", write: { "a.txt": "1" }, commit: true }],
    qa: [{ via: "json-tail", verdict: "REVISE", issues: ["no"] }],
  };
  const run = (flows: object) => {
    writeFileSync(join(bench.project, "passrail.yaml"), JSON.stringify({ flows }));
    return bench.passrail(["run", "feature", "Add login", "--agent", `*=${bench.player(script)}`]);
  };
  expect((await run({ feature: { loops: { revison: 0 } } })).err).toContain("its counters: revision, ci");
  expect((await run({ feature: { loops: { revision: 0 } } })).code).toBe(3);
  await bench.passrail(["gate", "approve", "1"]);
  const shown = await bench.passrail(["runs", "show", "1"]);
  expect(shown.out + shown.err).toContain("escalat");
  const events = await bench.passrail(["runs", "events", "1", "--json"]);
  expect(events.out).toContain("the limit of 0 revision loops is reached");
});
