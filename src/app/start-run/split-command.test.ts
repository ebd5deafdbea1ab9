import { expect, test } from "vitest";
import { splitCommand } from "./split-command.ts";

test.each([
  ["claude -p", ["claude", "-p"]],
  ["  codex   exec  - ", ["codex", "exec", "-"]],
  [`sh -c 'echo "a b" | cat'`, ["sh", "-c", 'echo "a b" | cat']],
  ['agent "two words" --x="y z"', ["agent", "two words", "--x=y z"]],
  ['agent "say \\"hi\\""', ["agent", 'say "hi"']],
  ["agent a\\ b ''", ["agent", "a b", ""]],
  ["agent 'a&&b' \"c;d\"", ["agent", "a&&b", "c;d"]],
])("%j is the list %j", (text, words) => {
  expect(splitCommand(text)).toEqual({ ok: true, value: words });
});

test.each([
  ["claude && rm -rf x", "command_must_be_list"],
  ["a | b", "command_must_be_list"],
  ["a; b", "command_must_be_list"],
  ["a > file", "command_must_be_list"],
  ["a $(id)", "command_must_be_list"],
  ["a `id`", "command_must_be_list"],
  ["a 'open", "command_quote_open"],
  ["   ", "command_empty"],
  ["''", "command_empty"],
])("%j is refused with %s", (text, code) => {
  expect(splitCommand(text)).toMatchObject({ ok: false, error: { code } });
});
