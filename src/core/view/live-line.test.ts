import { expect, test } from "vitest";
import { lastEventLine, lastOutputLine } from "./live-line.ts";

const at = "2026-01-31T12:00:00.000Z";
const line = (event: object): string => JSON.stringify({ at, ...event });

test.each([
  ["a message", [{ type: "message", text: "I read\n the  tests." }], "I read the tests."],
  ["a command", [{ type: "tool.called", id: "1", name: "Bash", input: '{"command":"npm test"}' }], "Bash npm test"],
  ["a list of words", [{ type: "tool.called", id: "1", name: "exec", input: '{"cmd":["ls","-l"]}' }], "exec ls -l"],
  ["a file", [{ type: "tool.called", id: "1", name: "Edit", input: '{"file_path":"a.ts","old":"x"}' }], "Edit a.ts"],
  ["an input that is no JSON", [{ type: "tool.called", id: "1", name: "sh", input: "echo" }], "sh echo"],
  ["a thought", [{ type: "thinking", text: "secret" }], "thinks"],
  ["a task", [{ type: "task.started", id: "1", name: "tester", text: "Run them" }], "gives tester a task: Run them"],
  [
    "what came before a result and a count",
    [
      { type: "notice", kind: "retry", text: "tries again" },
      { type: "tool.returned", id: "1", ok: true, output: "fine" },
      { type: "usage", usage: {} },
    ],
    "tries again",
  ],
])("the last line is %s", (_, events, text) => {
  expect(lastEventLine(`cut off"}\n${events.map(line).join("\n")}\n`)).toEqual({ text, at });
});

test("a hostile tail gives no line, or a short one", () => {
  expect(lastEventLine("")).toBeNull();
  expect(lastEventLine('[1]\nnull\n{"type":"message","text":7}\n{"type":"message"')).toBeNull();
  expect(lastEventLine(line({ type: "message", text: "x".repeat(5_000_000) }))?.text).toHaveLength(201);
  expect(lastEventLine('{"type":"message","text":"hi","at":7}')).toEqual({ text: "hi", at: null });
});

test("a program without events shows its last printed line", () => {
  expect(lastOutputLine("one\n  two  \n\n")).toEqual({ text: "two", at: null });
  expect(lastOutputLine("\n \n")).toBeNull();
});
