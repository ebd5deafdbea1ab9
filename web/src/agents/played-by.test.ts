import { expect, test } from "vitest";
import { playedBy } from "./played-by.ts";

const agents = { name: "agents", value: { builder: { command: ["node", "x.mjs"] }, "*": { runner: "codex" } } };

test("the nearest setting wins: the agent's own, that for all, the default runner", () => {
  const runner = { name: "runner", value: "claude" };
  expect(playedBy("builder", [agents, runner])).toEqual({ by: "node x.mjs", because: "agents.builder" });
  expect(playedBy("other", [agents, runner])).toEqual({ by: "codex", because: "agents.*" });
  expect(playedBy("other", [runner])).toEqual({ by: "claude", because: "runner" });
});

test("where nothing is set, nobody plays", () => {
  expect(
    playedBy("a", [
      { name: "runner", value: "none" },
      { name: "agents", value: null },
    ]),
  ).toMatchObject({
    by: "none yet",
  });
  expect(playedBy("a", [])).toMatchObject({ by: "none yet" });
});
