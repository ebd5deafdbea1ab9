import { describe, expect, test } from "vitest";
import type { TapedExchange, TapePlaces } from "./exchange.ts";
import { createAnswerFinder } from "./find-answer.ts";

const recorded: TapePlaces = { home: "/state", workspace: "/state/worktrees/r1", nonce: "aaaaaaaabbbbbbbb" };
const replayed: TapePlaces = {
  home: "/state/replays/7",
  workspace: "/state/replays/7/worktrees/r1",
  nonce: "ccccccccdddddddd",
};

const exchange = (number: number, body: unknown, path = "/v1/messages"): TapedExchange => ({
  number,
  at: "2026-01-01T00:00:00.000Z",
  ms: 1,
  route: "anthropic",
  method: "POST",
  path,
  status: 200,
  headers: {},
  requestHash: "",
  request: JSON.stringify(body),
  responseHash: "",
  response: `answer ${number}`,
});

const user = (content: string) => ({ role: "user", content });
const called = (id: string) => ({ role: "assistant", content: [{ type: "tool_use", id, name: "Bash", input: {} }] });
const result = (id: string, content: string) => ({
  role: "user",
  content: [{ type: "tool_result", tool_use_id: id, content }],
});
const asked = (body: unknown, path = "/v1/messages") => ({ method: "POST", path, request: JSON.stringify(body) });

const finder = (...exchanges: readonly TapedExchange[]) =>
  createAnswerFinder({ exchanges, recorded, replayed, isModelAnswer: (path) => path.endsWith("/messages") });

describe("the recorded answer to a request of a replay", () => {
  test("places, times, ids and hashes are no difference", () => {
    const body = (dir: string, nonce: string, day: string, commit: string) => ({
      model: "m",
      metadata: { user_id: nonce },
      messages: [user(`in ${dir}/src, today ${day}, nonce ${nonce}, HEAD ${commit} took 12 ms`)],
    });
    const one = finder(exchange(1, body("/state/worktrees/r1", "aaaaaaaabbbbbbbb", "2026-01-01", "1234567abc")));
    const now = body("/state/replays/7/worktrees/r1", "ccccccccdddddddd", "2027-12-31T10:00:00Z", "fedcba9876");
    expect(one.find(asked(now))).toMatchObject({ type: "found", exchange: { number: 1 }, differences: [] });
  });

  test("the same conversation with another text is answered, and says what differs and where", () => {
    const course = (output: string) => ({ model: "m", messages: [user("go"), called("t1"), result("t1", output)] });
    const found = finder(exchange(4, course("3 tests passed"))).find(asked(course("2 tests passed")));
    expect(found).toMatchObject({
      type: "found",
      differences: [{ where: "/messages/2/content/0/content", recorded: "3 tests passed", replayed: "2 tests passed" }],
    });
  });

  test("another course, another model and a further request get no answer, with the reason", () => {
    const one = finder(exchange(1, { model: "m", messages: [user("go")] }));
    expect(one.find(asked({ model: "other", messages: [user("go")] }))).toMatchObject({
      type: "none",
      why: expect.stringContaining('"other" instead of "m"'),
    });
    expect(one.find(asked({ model: "m", messages: [user("go"), called("t9")] }))).toMatchObject({
      type: "none",
      why: expect.stringContaining('it goes on with "call t9 Bash"'),
    });
    expect(one.find(asked({ model: "m", messages: [user("go")] }))).toMatchObject({ type: "found" });
    expect(one.find(asked({ model: "m", messages: [user("go")] }))).toMatchObject({
      type: "none",
      why: "POST /v1/messages was recorded less often",
    });
  });

  test("requests that were made at once are told apart by their texts, and equal ones are answered in order", () => {
    const title = { model: "m", messages: [user("a title")] };
    const work = { model: "m", messages: [user("the work")] };
    const all = finder(exchange(1, title), exchange(2, work), exchange(3, work));
    const numbers = [work, title, work]
      .map((body) => all.find(asked(body)))
      .map((found) => (found.type === "found" ? found.exchange.number : 0));
    expect(numbers).toEqual([2, 1, 3]);
  });

  test("what is no answer of a model may be asked for again", () => {
    const body = { model: "m", messages: [user("go")] };
    const one = finder(exchange(1, body, "/v1/messages/count_tokens"));
    for (let times = 0; times < 3; times += 1)
      expect(one.find(asked(body, "/v1/messages/count_tokens"))).toMatchObject({ type: "found", differences: [] });
  });
});
