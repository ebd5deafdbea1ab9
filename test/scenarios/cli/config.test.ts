// `passrail config`: every setting with its value and origin, and changes that keep what a person wrote.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { aboutSetting } from "../../../src/settings/about-settings.ts";
import { type Bench, openBench } from "./bench.ts";

vi.setConfig({ testTimeout: 120_000 });

let bench: Bench;
beforeEach(() => {
  bench = openBench();
});
afterEach(() => bench.remove());

const WRITTEN = `# ours
slots: 2 # two are enough
merge:
  mode: pr # people look first
budgets: { run: { usd: 5 } }
`;

test("set changes one value, keeps comments and order, shows the difference, and approves the operator's own change", async () => {
  const file = join(bench.project, "passrail.yaml");
  writeFileSync(file, WRITTEN);
  const set = await bench.passrail(["config", "set", "slots", "4"]);
  expect(set).toMatchObject({
    code: 0,
    out: expect.stringContaining("-slots: 2 # two are enough\n+slots: 4 # two are enough\n"),
  });
  expect(set.err).toContain("is written and approved");
  for (const [name, value] of [
    ["merge.target", "dev"],
    ["budgets.day.usd", "20"],
    ["checks.test", "[npm, test]"],
  ] as const)
    expect(await bench.passrail(["config", "set", name, value])).toMatchObject({ code: 0 });
  expect(readFileSync(file, "utf8")).toBe(`# ours
slots: 4 # two are enough
merge:
  mode: pr # people look first
  target: dev
budgets: { run: { usd: 5 }, day: { usd: 20 } }
checks: { test: [ npm, test ] }
`);
  expect((await bench.passrail(["config", "get", "budgets.day.usd"])).out).toBe("20\n");
  expect((await bench.passrail(["config", "unset", "merge.target"])).out).toContain("-  target: dev");
  const before = readFileSync(file, "utf8");
  const refused = await bench.passrail(["config", "set", "merge.mode", "sometimes"]);
  expect(refused).toMatchObject({ code: 2, err: expect.stringContaining("invalid_setting") });
  expect((await bench.passrail(["config", "set", "slots", "9", "--dry-run"])).out).toContain("+slots: 9");
  expect(readFileSync(file, "utf8")).toBe(before);
});

test("explain says what a setting means, what can set it, and which of these counts; --user writes the person's own file", async () => {
  const own = await bench.passrail(["config", "set", "--user", "runner", "claude"]);
  expect(own).toMatchObject({ code: 0, out: expect.stringContaining("+runner: claude") });
  const explained = await bench.passrail(["config", "explain", "slots"], { env: { MAX_WORKERS: "7" } });
  expect(explained.out).toContain("slots = 7   (environment)");
  expect(explained.out).toMatch(/→ environment +MAX_WORKERS/u);
  expect((await bench.passrail(["config", "explain", "runner"])).out).toMatch(/→ user +.*passrail\.yaml/u);
  const { out } = await bench.passrail(["config", "--json"]);
  const { settings } = JSON.parse(out) as { settings: { name: string; from: string }[] };
  expect(settings.find(({ name }) => name === "runner")).toMatchObject({ from: "user" });
  expect(settings.filter(({ name }) => aboutSetting(name) === undefined)).toEqual([]);
});

test("an agent inside an attempt changes no setting", async () => {
  const ended = await bench.passrail(["config", "set", "slots", "9"], { env: { PASSRAIL_MARKER: "x" } });
  expect(ended).toMatchObject({ code: 1, err: expect.stringContaining("operator_only") });
});
