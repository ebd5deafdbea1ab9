// What a session has used in all, from the files that the agent's own program keeps about it: while it works, and after it was cut off.
// One file per vendor; null where a program keeps none, or it tells nothing yet.

import type { RunnerName } from "../core/flow/agent-options.ts";
import type { Usage } from "../core/budget/usage.ts";
import { soundUsage } from "../core/budget/budget.ts";
import { openClaudeSession } from "./claude/session-file.ts";
import { openCodexSession } from "./codex/session-file.ts";
import { openGeminiSession } from "./gemini/session-file.ts";
import { openOpencodeSession } from "./opencode/session-file.ts";
import { isPlainId, type SessionPlaces, type SessionTells } from "./session-journal.ts";

type OpenSession = (id: string, places: SessionPlaces, tells: SessionTells) => () => Usage | null;

const VENDORS: Partial<Record<RunnerName, OpenSession>> = {
  claude: openClaudeSession,
  codex: openCodexSession,
  gemini: openGeminiSession,
  opencode: openOpencodeSession,
};

/** Those that write down what an answer used before they carry out what it calls. Measured with Codex 0.166.0 and Gemini CLI 0.61.0. */
const TELL_ANSWERS: ReadonlySet<RunnerName> = new Set(["codex", "gemini"]);

/** Whether its session file tells what an answer of the model used while the tools of that answer run. */
export function tellsAnswers(runner: RunnerName): boolean {
  return TELL_ANSWERS.has(runner);
}

/**
 * The usage of the whole session so far: of all its attempts, and of a person who worked in it. An attempt's own part is what came on top
 * of the usage before it (`usageSince`). Dollars are null where they are unknown.
 */
export function sessionUsage(runner: RunnerName, session: string, places: SessionPlaces): Usage | null {
  return openSessionUsage(runner, session, places)();
}

/** The same for several looks: each reads only what is new. */
export function openSessionUsage(
  runner: RunnerName,
  session: string,
  places: SessionPlaces,
  tells: SessionTells = {},
): () => Usage | null {
  const open = isPlainId(session) ? VENDORS[runner] : undefined;
  if (open === undefined) return () => null;
  const read = open(session, places, tells);
  return () => {
    const usage = read();
    return usage === null ? null : soundUsage(usage);
  };
}
