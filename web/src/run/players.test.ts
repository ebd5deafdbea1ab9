import { expect, test } from "vitest";
import { NO_PLAYERS, playersBody, playersFlags } from "./players.ts";

test("without a choice nothing is sent and no flag is shown; a choice is both, quoted for a shell", () => {
  expect([playersBody(NO_PLAYERS), playersFlags(NO_PLAYERS)]).toEqual([{}, ""]);
  const players = { agents: { IN1: "codex", "*": "claude" }, workspace: "clone" } as const;
  expect(playersBody(players)).toEqual(players);
  expect(playersFlags(players)).toBe(" --agent 'IN1=codex' --agent '*=claude' --workspace clone");
});
