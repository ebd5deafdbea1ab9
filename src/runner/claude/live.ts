// Messages to Claude Code while it works: `--input-format=stream-json`, and `--replay-user-messages` to see which it has taken. Only for
// the program itself: a wrapper or a stand-in reads its prompt as a text, to the end of stdin.

import { realpathSync } from "node:fs";

/** Where its package, its own installer and Homebrew put it. */
const OWN_PLACES =
  /[/\\](?:@anthropic-ai[/\\]claude-code|share[/\\]claude[/\\]versions|Caskroom[/\\]claude-code)[/\\]/u;

export function isClaudeItself(program: string): boolean {
  try {
    return OWN_PLACES.test(realpathSync(program));
  } catch {
    // A name inside a sandbox.
    return false;
  }
}

export const LIVE_ARGS = ["--input-format=stream-json", "--replay-user-messages"] as const;

export function userLine(content: string, uuid: string): string {
  return JSON.stringify({
    type: "user",
    message: { role: "user", content },
    parent_tool_use_id: null,
    session_id: "",
    uuid,
  });
}
