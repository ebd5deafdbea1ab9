import { expect, test } from "vitest";
import { withRun } from "./spoken-task.ts";

test.each([
  ["a text with a space is a task", ["fix the typo"], ["run", "fix the typo"]],
  ["options may follow", ["fix it now", "--agent", "*=x"], ["run", "fix it now", "--agent", "*=x"]],
  [
    "global options may come first",
    ["--json", "--cwd", "/a b", "fix it"],
    ["--json", "--cwd", "/a b", "run", "fix it"],
  ],
  ["a text after -- may begin with a dash", ["--", "--help is broken"], ["run", "--", "--help is broken"]],
  ["a line break is space too", ["fix\nit"], ["run", "fix\nit"]],
  ["a single word is a command", ["inbox"], ["inbox"]],
  ["space around a word makes no task", [" inbox "], [" inbox "]],
  ["a command's own texts stay", ["ask", "answer", "a b"], ["ask", "answer", "a b"]],
  ["nothing stays nothing", [], []],
])("%s", (_, typed, meant) => {
  expect(withRun(typed)).toEqual(meant);
});
