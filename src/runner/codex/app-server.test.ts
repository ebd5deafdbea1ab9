import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import type { LiveMessages, PermissionRequest } from "../runner.ts";
import { openCodexTalk } from "./app-server.ts";
import { createCodexReader } from "./stream.ts";

type Message = { readonly [key: string]: unknown };

/** A conversation with the program's side in our hands: what it prints, and what it was told. */
function conversation(more: Partial<Parameters<typeof openCodexTalk>[0]> = {}) {
  const stdin = new PassThrough();
  const said: Message[] = [];
  stdin.on("data", (bytes: Buffer) => said.push(JSON.parse(String(bytes)) as Message));
  const reader = createCodexReader({ model: null, structured: false, ...(more.session && { resumed: more.session }) });
  const talk = openCodexTalk({
    cwd: "/w",
    session: undefined,
    images: [],
    schema: undefined,
    permit: undefined,
    messages: undefined,
    reader,
    ...more,
  });
  talk.input.begin(stdin, "Work.");
  const print = (message: Message) => talk.reader.read(JSON.stringify(message));
  const open = (): void => {
    print({ id: 1, result: {} });
    print({ id: 2, result: { thread: { id: "T" } } });
    print({ id: 3, result: { turn: { id: "t" } } });
  };
  const settled = (): Promise<unknown> => new Promise((resolve) => void setImmediate(resolve));
  const ended = (reason: "exited" | "canceled" = "exited") =>
    talk.reader.conclude({ reason, exitCode: 0, signal: null, stderrTail: "" });
  return { ...talk, stdin, said, print, open, settled, ended };
}

const approval = (params: object) => ({
  id: 7,
  method: "item/commandExecution/requestApproval",
  params: { threadId: "T", turnId: "t", itemId: "i", ...params },
});

test("hello, a conversation that asks about everything, a turn; its end closes the input", async () => {
  const { open, said, settled, print, reader, input, stdin, ended } = conversation();
  open();
  await settled();
  expect(said.map(({ method }) => method)).toEqual(["initialize", "initialized", "thread/start", "turn/start"]);
  expect(said[2]?.["params"]).toEqual({ cwd: "/w", approvalPolicy: "untrusted" });
  expect(said[3]?.["params"]).toEqual({ threadId: "T", input: [{ type: "text", text: "Work." }] });
  const total = { inputTokens: 10, outputTokens: 2, cachedInputTokens: 4 };
  print({ method: "thread/tokenUsage/updated", params: { threadId: "T", tokenUsage: { total } } });
  print({
    method: "item/completed",
    params: { threadId: "T", item: { type: "agentMessage", id: "m", text: "Done." } },
  });
  expect(reader.over).toBe(false);
  print({ method: "turn/completed", params: { threadId: "T", turn: { status: "completed" } } });
  expect(reader.over).toBe(true);
  input.rest();
  expect(stdin.writable).toBe(false);
  expect(ended()).toMatchObject({
    finalText: "Done.",
    conversation: { session: { id: "T" }, failure: null, usage: { inputTokens: 10, outputTokens: 2, cachedTokens: 4 } },
  });
});

test("a yes accepts exactly this command, a no and a broken answer decline it; what nobody is asked for is refused", async () => {
  const requests: PermissionRequest[] = [];
  const { open, said, settled, print } = conversation({
    permit: async (request) => {
      requests.push(request);
      if (request.what === "broken") throw new Error("no answer");
      return { allowed: request.what === "ls x", why: "" };
    },
  });
  open();
  for (const command of ["ls x", "rm -rf /", "broken"]) print(approval({ command }));
  const change = {
    type: "fileChange",
    id: "f",
    changes: [{ path: "/w/a", kind: { type: "update", move_path: "/etc/b" } }],
  };
  print({ method: "item/started", params: { threadId: "T", item: change } });
  print({ id: 8, method: "item/fileChange/requestApproval", params: { threadId: "T", itemId: "f" } });
  print({ id: 9, method: "item/permissions/requestApproval", params: { permissions: { network: { enabled: true } } } });
  print({ id: 10, method: "item/tool/requestUserInput", params: {} });
  await settled();
  expect(requests.slice(0, 2)).toEqual([
    { tool: "shell", kind: "command", what: "ls x", paths: [] },
    { tool: "shell", kind: "command", what: "rm -rf /", paths: [] },
  ]);
  expect(requests.at(-1)).toEqual({
    tool: "apply_patch",
    kind: "write",
    what: "/w/a\n/etc/b",
    paths: ["/w/a", "/etc/b"],
  });
  const answers = said.slice(4).map(({ id, result, error }) => [id, result ?? Object.keys(error ?? {})]);
  expect(answers).toHaveLength(6);
  expect(answers).toEqual(
    expect.arrayContaining([
      [7, { decision: "accept" }],
      [7, { decision: "decline" }],
      [8, { decision: "decline" }],
      [9, { permissions: {} }],
      [10, ["code", "message"]],
    ]),
  );
  expect(answers.filter(([, result]) => JSON.stringify(result) === '{"decision":"accept"}')).toHaveLength(1);
});

test("without anyone to decide, nothing is allowed", async () => {
  const { open, said, settled, print } = conversation();
  open();
  print(approval({ command: "ls" }));
  await settled();
  expect(said.at(-1)).toEqual({ id: 7, result: { decision: "decline" } });
});

test("a conversation that is not there is lost, and no turn begins", async () => {
  const { said, settled, print, reader, input, ended } = conversation({ session: { id: "S", totals: null } });
  print({ id: 1, result: {} });
  print({ id: 2, error: { code: -32_600, message: "no rollout found for thread id S" } });
  expect(reader.over).toBe(true);
  input.rest();
  await settled();
  expect(said.map(({ method }) => method)).toEqual(["initialize", "initialized", "thread/resume"]);
  expect(ended().conversation).toMatchObject({ session: null, failure: { kind: "session_lost" } });
});

test("a person's message is the next turn; one that was not taken is given back", async () => {
  const waiting = [
    { number: 1, text: "Use tabs." },
    { number: 2, text: "And spaces." },
  ];
  const heard: number[] = [];
  const back: number[] = [];
  const messages: LiveMessages = {
    take: () => waiting.shift(),
    giveBack: ({ number }) => void back.push(number),
    heard: ({ number }) => void heard.push(number),
    listen: () => () => {},
  };
  const { open, said, settled, print, input } = conversation({ messages });
  open();
  input.rest();
  expect(waiting).toHaveLength(2);
  print({ method: "turn/completed", params: { threadId: "T", turn: { status: "completed" } } });
  input.rest();
  input.rest();
  print({ id: 4, result: { turn: { id: "u" } } });
  print({ method: "turn/started", params: { threadId: "T" } });
  print({ method: "turn/completed", params: { threadId: "T", turn: { status: "completed" } } });
  input.rest();
  input.close();
  await settled();
  expect(said.filter(({ method }) => method === "turn/start")).toHaveLength(3);
  expect([heard, back]).toEqual([[1], [2]]);
});

test("a failed turn, a retry and the words of sub-agents mean what they mean in exec's output", () => {
  const { open, print, ended } = conversation();
  open();
  const message = "Rate limit reached. Please try again in 2.5s.";
  const retry = print({ method: "error", params: { threadId: "T", willRetry: true, error: { message } } });
  expect(retry).toMatchObject([{ type: "notice", kind: "retry" }]);
  const foreign = { threadId: "OTHER", item: { type: "agentMessage", id: "m", text: "Not mine." } };
  expect(print({ method: "item/completed", params: foreign })).toEqual([]);
  print({
    method: "turn/completed",
    params: { threadId: "T", turn: { status: "failed", error: { message: "unexpected status 401 Unauthorized" } } },
  });
  expect(ended().conversation).toMatchObject({ failure: { kind: "auth" } });
});
