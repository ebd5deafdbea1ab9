// What the four agent programs printed in recorded sessions, as a person reads it.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { type ActivityItem, activityOf } from "../../../src/core/view/activity.ts";
import { readActivityLine } from "../../../src/core/view/activity-event.ts";
import { activityLine } from "../../../src/core/view/activity-lines.ts";
import { createClaudeReader } from "../../../src/runner/claude/stream.ts";
import { createCodexReader } from "../../../src/runner/codex/stream.ts";
import { createGeminiReader } from "../../../src/runner/gemini/stream.ts";
import { createOpencodeReader } from "../../../src/runner/opencode/stream.ts";

const READERS = {
  claude: () => createClaudeReader(),
  codex: () => createCodexReader({ model: "gpt-5.5-codex", structured: false }),
  gemini: () => createGeminiReader(),
  opencode: () => createOpencodeReader("m"),
};

function activity(program: keyof typeof READERS, name: string): readonly ActivityItem[] {
  const file = join(import.meta.dirname, "../../fixtures/traces", program, `${name}.jsonl`);
  const reader = READERS[program]();
  const said = readFileSync(file, "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .flatMap((line) => reader.read(line));
  const events = said.flatMap(
    (event, place) =>
      readActivityLine(JSON.stringify({ at: "2026-01-01T10:00:00.000Z", ...event }), place, "/project") ?? [],
  );
  return activityOf(events, { isOver: true });
}

const show = (program: keyof typeof READERS, name: string) =>
  activity(program, name).map((item) => {
    const mark = item.is !== "call" ? "" : item.call.ok === true ? " ok" : " failed";
    return `${item.is}${mark}: ${activityLine(item).slice(0, 60)}`;
  });

test.each(["claude", "codex", "gemini", "opencode"] as const)(
  "%s: a session that writes a file reads as a story",
  (program) => {
    const items = activity(program, "happy");
    expect(items.map(({ is }) => is).filter((is) => is !== "began")).toEqual(["said", "call", "said"]);
    expect(items.find(({ is }) => is === "call")).toMatchObject({
      call: { kind: "edit", title: "hello.txt", ok: true },
    });
  },
);

test("what was recorded of commands, refusals, retries and sub-agents reads as it happened", () => {
  expect({
    "claude/perm-denied": show("claude", "perm-denied"),
    "claude/subagent": show("claude", "subagent"),
    "claude/flaky": show("claude", "flaky"),
    "claude/mcp-http": show("claude", "mcp-http"),
    "codex/codemode-bash": show("codex", "codemode-bash"),
    "codex/mcp-http": show("codex", "mcp-http"),
    "codex/flaky": show("codex", "flaky"),
    "gemini/mcp-http": show("gemini", "mcp-http"),
    "opencode/bash": show("opencode", "bash"),
    "opencode/mcp-http": show("opencode", "mcp-http"),
  }).toMatchInlineSnapshot(`
    {
      "claude/flaky": [
        "began: began, with claude-sonnet-4-5",
        "notice: A request to the model failed (500); retry 1 of 10 in 0.6 s.",
        "notice: A request to the model failed (500); retry 2 of 10 in 1.1 s.",
        "said: Recovered.",
      ],
      "claude/mcp-http": [
        "began: began, with claude-sonnet-4-5",
        "said: Submitting my verdict.",
        "call ok: submit_verdict REVISE",
        "said: Verdict submitted. Tool said: {"recorded":true,"verdict":"RE",
      ],
      "claude/perm-denied": [
        "began: began, with claude-sonnet-4-5",
        "said: Running a command.",
        "call failed: Bash echo tool-was-here > bash.txt && cat bash.txt",
        "notice: Bash: echo tool-was-here > bash.txt && cat bash.txt: Output ",
        "said: Tool said: Output redirection to '/project/bash.txt' needs a",
      ],
      "claude/subagent": [
        "began: began, with claude-sonnet-4-5",
        "said: Delegating.",
        "call ok: Agent review it",
        "task: general-purpose started: review it",
        "call ok: Bash echo inner",
        "task: general-purpose completed: Inner says APPROVED",
        "said: Sub-agent answered:   <tools-used-before-summary>Bash</tools",
      ],
      "codex/codemode-bash": [
        "began: began, with gpt-5.5-codex",
        "said: Running a command.",
        "call ok: shell echo tool-was-here > bash.txt && cat bash.txt",
        "said: Tool said: Script completed",
      ],
      "codex/flaky": [
        "began: began, with gpt-5.5-codex",
        "notice: Reconnecting... 1/1 (We’re currently experiencing high deman",
        "said: Recovered.",
      ],
      "codex/mcp-http": [
        "began: began, with gpt-5.5-codex",
        "said: Submitting my verdict.",
        "call ok: submit_verdict REVISE",
        "said: Verdict submitted. Tool said: Wall time: 0.0050 seconds",
      ],
      "gemini/mcp-http": [
        "began: began, with gemini-2.5-pro",
        "said: Submitting my verdict.",
        "call ok: mcp_orch_submit_verdict REVISE",
        "said: Verdict submitted. Tool said: {"output":"<untrusted_context>",
      ],
      "opencode/bash": [
        "began: began, with m",
        "said: Running a command.",
        "call ok: bash echo tool-was-here > bash.txt && cat bash.txt",
        "said: Tool said: tool-was-here",
      ],
      "opencode/mcp-http": [
        "began: began, with m",
        "said: Submitting my verdict.",
        "call ok: orch_submit_verdict REVISE",
        "said: Verdict submitted. Tool said: verdict REVISE recorded",
      ],
    }
  `);
});
