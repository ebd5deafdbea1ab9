import { expect, test } from "vitest";
import { chooseRung, type TimedHold } from "./rung.ts";

const NOW = "2026-01-01T12:00:00.000Z";
const hold = (runner: string, cause: string, minutes: number): TimedHold => ({
  runner,
  account: "",
  cause,
  reason: "",
  since: NOW,
  until: new Date(Date.parse(NOW) + minutes * 60_000).toISOString(),
  runId: null,
  by: "engine",
});
const choose = (runners: readonly string[], holds: readonly TimedHold[], bound: string | null = null) => {
  const choice = chooseRung(runners, bound, (name) => holds.find(({ runner }) => runner === name), Date.parse(NOW));
  return choice.type === "taken"
    ? [runners[choice.at], ...choice.passed.map(({ runner, cause }) => `${runner} ${cause}`)]
    : ["waits for", choice.hold.runner];
};

test("the first rung whose runner can work is taken, with the reasons of those before it", () => {
  expect(choose(["claude", "codex"], [])).toEqual(["claude"]);
  expect(choose(["claude", "codex"], [hold("claude", "quota", 60)])).toEqual(["codex", "claude quota"]);
  const two = [hold("claude", "auth", 15), hold("codex", "billing", 60)];
  expect(choose(["claude", "codex", "gemini"], two)).toEqual(["gemini", "claude auth", "codex billing"]);
});

test("if every runner is out, the attempt waits for the one that is back first", () => {
  expect(choose(["claude", "codex"], [hold("claude", "quota", 60), hold("codex", "quota", 20)])).toEqual([
    "waits for",
    "codex",
  ]);
});

test("a limit that ends within half a minute is waited for on its own rung", () => {
  expect(choose(["claude", "codex"], [hold("claude", "rate_limit", 0.4)])).toEqual(["waits for", "claude"]);
  expect(choose(["claude", "codex"], [hold("claude", "rate_limit", 1)])).toEqual(["codex", "claude rate_limit"]);
});

test("an attempt that continues a session stays with its runner, and waits for its limit", () => {
  expect(choose(["claude", "codex"], [hold("codex", "quota", 60)], "codex")).toEqual(["waits for", "codex"]);
  expect(choose(["claude", "codex"], [], "codex")).toEqual(["codex"]);
  // A runner that is no longer on the ladder binds nothing.
  expect(choose(["claude", "codex"], [], "gemini")).toEqual(["claude"]);
});

test("without another rung a program that is logged out is tried: its failure is for a person", () => {
  expect(choose(["claude"], [hold("claude", "auth", 15)])).toEqual(["claude"]);
  expect(choose(["claude"], [hold("claude", "quota", 15)])).toEqual(["waits for", "claude"]);
});
