import { describe, expect, test } from "vitest";
import { movedAnswer } from "./moved-answer.ts";
import { movedTo, namedPlaces } from "./places.ts";

const recorded = { home: "/state", workspace: "/state/worktrees/r1", nonce: "aaaaaaaabbbbbbbb" };
const replayed = { home: "/state/replays/7", workspace: "/state/replays/7/worktrees/r1", nonce: "ccccccccdddddddd" };
const move = movedTo(recorded, replayed);

const data = (...events: readonly object[]): string =>
  events.map((event) => `event: x\ndata: ${JSON.stringify(event)}\n\n`).join("");

describe("a recorded answer in another place", () => {
  test("one place inside another is moved once", () => {
    expect(move("/state/worktrees/r1/a and /state/runs/b, not /stateful")).toBe(
      "/state/replays/7/worktrees/r1/a and /state/replays/7/runs/b, not /stateful",
    );
    expect(move("/root/.claude/projects/-state-worktrees-r1")).toBe(
      "/root/.claude/projects/-state-replays-7-worktrees-r1",
    );
    expect(namedPlaces(recorded)("at /state/worktrees/r1/a")).toBe("at <workspace>/a");
  });

  const PIECES: readonly (readonly [string, (text: string) => object])[] = [
    [
      "Anthropic",
      (text: string) => ({
        type: "content_block_delta",
        index: 1,
        delta: { type: "input_json_delta", partial_json: text },
      }),
    ],
    ["OpenAI", (text: string) => ({ type: "response.function_call_arguments.delta", item_id: "i", delta: text })],
    [
      "chat completions",
      (text: string) => ({ choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: text } }] } }] }),
    ],
  ];
  test.each(PIECES)("a place that %s streams in pieces is moved", (_name, piece) => {
    const moved = movedAnswer(data(...['{"file":"/state/work', "trees/r1", '/a.ts"}'].map(piece)), move);
    expect(moved).toBe(data(...['{"file":"/state/replays/7/worktrees/r1/a.ts"}', "", ""].map(piece)));
  });

  test("an answer without a place stays byte by byte, odd lines and all", () => {
    const odd = 'event: message_start\ndata:{"type":"message_start" }\n\ndata: [DONE]\n\n: ping\n';
    expect(movedAnswer(odd, move)).toBe(odd);
    expect(movedAnswer('{"nonce": "aaaaaaaabbbbbbbb"}', move)).toBe('{"nonce": "ccccccccdddddddd"}');
  });
});
