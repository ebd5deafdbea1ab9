import { expect, test } from "vitest";
import { describeTool } from "./tool-call.ts";

const ROOT = "/work/tree";
const told = (name: string, input: object | string) => {
  const { kind, title } = describeTool(name, typeof input === "string" ? input : JSON.stringify(input), ROOT);
  return [kind, title];
};

test.each([
  ["Bash", { command: "npm test\n-- shard 3", description: "d" }, "command", "npm test -- shard 3"],
  ["shell", "/bin/bash -lc 'git status'", "command", "git status"],
  ["exec", { command: ["bash", "-lc", "ls src"] }, "command", "ls src"],
  ["run_shell_command", { command: "make" }, "command", "make"],
  ["Read", { file_path: `${ROOT}/src/a.ts` }, "read", "src/a.ts"],
  ["read_file", { absolute_path: "/elsewhere/b.ts" }, "read", "/elsewhere/b.ts"],
  ["Grep", { pattern: "TODO", path: `${ROOT}/src` }, "search", "TODO in src"],
  ["list_directory", { path: `${ROOT}/src` }, "search", "src"],
  ["WebFetch", { url: "https://example.org", prompt: "p" }, "web", "https://example.org"],
  ["web_search", "node sqlite", "web", "node sqlite"],
  ["apply_patch", `add ${ROOT}/a.txt\nupdate ${ROOT}/b.txt`, "edit", "a.txt, b.txt"],
  ["Task", { description: "Look at tests", subagent_type: "explorer", prompt: "…" }, "task", "Look at tests"],
  [
    "TodoWrite",
    { todos: [{ status: "completed" }, { status: "in_progress", activeForm: "Writing tests" }] },
    "plan",
    "1 of 2 done · Writing tests",
  ],
  ["mcp__passrail__submit_verdict", { verdict: "APPROVED", summary: "s" }, "verdict", "APPROVED"],
  ["passrail_ask_human", { question: "Which one?" }, "question", "Which one?"],
  ["mcp__maps__route", { from: "a" }, "other", ""],
  ["", "", "other", ""],
])("%s of %o is %s: %s", (name, input, kind, title) => {
  expect(told(name, input)).toEqual([kind, title]);
});

test("an edit shows its change and one line beside it; a new file shows its first lines", () => {
  const edit = {
    file_path: `${ROOT}/a.ts`,
    old_string: "one\ntwo\nthree\n",
    new_string: "one\n2\ntwo and a half\nthree\n",
  };
  expect(describeTool("Edit", JSON.stringify(edit), ROOT)).toMatchObject({
    kind: "edit",
    title: "a.ts",
    diff: {
      added: 2,
      removed: 1,
      lines: [
        { sign: " ", text: "one" },
        { sign: "-", text: "two" },
        { sign: "+", text: "2" },
        { sign: "+", text: "two and a half" },
        { sign: " ", text: "three" },
      ],
    },
  });
  const content = Array.from({ length: 100 }, (_, at) => `line ${at}`).join("\n");
  const written = describeTool("write", JSON.stringify({ filePath: "/b.ts", content })).diff;
  expect([written?.added, written?.lines.length, written?.lines[0]]).toEqual([100, 14, { sign: "+", text: "line 0" }]);
});

test("an input that its reader has cut still names the file and the beginning of the change", () => {
  const whole = JSON.stringify({ file_path: '/a "b".ts', content: `first\nsecond ${"x".repeat(20_000)}` });
  const call = describeTool("Write", `${whole.slice(0, 16_383)}…`);
  expect([call.kind, call.title, call.diff?.lines[0]]).toEqual(["edit", '/a "b".ts', { sign: "+", text: "first" }]);
});

test("no input makes it slow or large", () => {
  for (const input of [
    `{"a":"${'\\"'.repeat(8000)}`,
    `{${'"command":"'.repeat(1500)}`,
    "{".repeat(16_000),
    `{"command":"${"a ".repeat(8000)}"}`,
  ]) {
    const { title, detail } = describeTool("x", input);
    expect(title.length).toBeLessThanOrEqual(300);
    expect(detail.length).toBeLessThanOrEqual(2000);
  }
});
