// The words in settings and flows that may be scripts of the repository: everything below a key that holds commands, and files of MCP
// servers. Whether such a file exists is for the caller to find out.

import type { ProjectFileKind } from "../../core/view/project-effects.ts";

type NamedProgram = { readonly word: string; readonly kind: ProjectFileKind };

/** Their values are argument lists, lists of such lists, or lists by name. */
const COMMAND_KEYS: ReadonlySet<string> = new Set([
  "command",
  "setup",
  "checks",
  "args",
  "tool_use",
  "session_end",
  "teammate_idle",
  "task_completed",
]);
const MAX_WORDS = 500;
const MAX_WORD = 300;

export function programsIn(value: unknown): readonly NamedProgram[] {
  const found: NamedProgram[] = [];
  const visit = (inner: unknown, isCommand: boolean): void => {
    if (found.length >= MAX_WORDS) return;
    if (typeof inner === "string") {
      if (isCommand) found.push(...wordsOf(inner).map((word) => ({ word, kind: "program" as const })));
    } else if (Array.isArray(inner)) for (const each of inner) visit(each, isCommand);
    else if (typeof inner === "object" && inner !== null)
      for (const [key, each] of Object.entries(inner)) {
        if (key === "mcp_config" && typeof each === "string") found.push({ word: each, kind: "mcp" });
        else visit(each, isCommand || COMMAND_KEYS.has(key));
      }
  };
  visit(value, false);
  return found.slice(0, MAX_WORDS);
}

/** An argument such as `./a.sh && ./b.sh` names more than one. */
function wordsOf(text: string): readonly string[] {
  return text.split(/[\s;&|()'"=]+/u).filter((word) => word !== "" && word.length <= MAX_WORD);
}
