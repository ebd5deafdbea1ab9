import { expect, test } from "vitest";
import type { WrittenOptions } from "./agent-options.ts";
import { resolveFlow, type WorkStage } from "./flow.ts";
import { flowFileSchema } from "./flow-file.ts";
import { ladderText, ladderWords, readLadder, rungsIn } from "./ladder.ts";
import { runnerLadder } from "./runner-choice.ts";

function stageWith(more: object): WorkStage {
  const stages = [{ id: "build", agent: "builder", ...more }];
  const file = flowFileSchema.parse({ flow: "f", version: 1, subject: "thing", allow_ungated: true, stages });
  return resolveFlow(file).stages[0] as WorkStage;
}

function rungs(more: object, facts: Record<string, unknown> = {}, agent: WrittenOptions = {}) {
  const builder = { name: "builder", description: "", skills: [], prompt: "", options: agent };
  return runnerLadder({ agents: { builder } }, facts as never, stageWith(more)).map(({ runner, options }) =>
    [runner, options.model ?? "-", options.effort ?? "-"].join(" "),
  );
}

test.each([
  ["claude,codex", "claude,codex"],
  [" claude , codex:gpt-5.5 ", "claude,codex:gpt-5.5"],
])("%j is a ladder", (text, words) => {
  const read = readLadder(text);
  expect(read === undefined ? "" : ladderWords(read)).toBe(words);
});

test.each(["claude", "claude,", "claude,emacs", "claude,command", "claude,codex:", "", ",", "claude;codex"])(
  "%j is no ladder",
  (text) => {
    expect(readLadder(text)).toBeUndefined();
  },
);

test("each rung has its own model and effort; what stands beside the ladder is for its first rung", () => {
  const ladder = ["claude", { runner: "codex", model: "gpt-5.5", effort: "high" }, "gemini"];
  expect(rungs({ runner: ladder, model: "opus", effort: "low" })).toEqual([
    "claude opus low",
    "codex gpt-5.5 high",
    "gemini - low",
  ]);
});

test("a ladder comes from the settings, a flag, the flow or the agent's file, nearest first", () => {
  expect(rungs({}, { config: { runner: ["claude", "codex"], model: "opus" } })).toEqual(["claude opus -", "codex - -"]);
  expect(rungs({}, {}, { runner: ["codex", "gemini"] })).toEqual(["codex - -", "gemini - -"]);
  expect(rungs({ runner: ["gemini", "claude"] }, { config: { runner: "codex" } })).toEqual([
    "gemini - -",
    "claude - -",
  ]);
  expect(rungs({ runner: "gemini" }, { runners: { build: { runner: ["claude", "codex"] } } })).toEqual([
    "claude - -",
    "codex - -",
  ]);
});

test("a runner that is chosen alone keeps the model that a ladder names for it", () => {
  const facts = { runners: { build: { runner: "codex" } } };
  expect(rungs({ runner: ["claude", { runner: "codex", model: "gpt-5.5" }], model: "opus" }, facts)).toEqual([
    "codex gpt-5.5 -",
  ]);
});

test("a ladder in words names its rungs in order", () => {
  expect(ladderText(rungsIn(["claude", { runner: "codex", model: "gpt-5.5" }]))).toBe("claude, then codex gpt-5.5");
});
