// The command with which a person continues an agent's session in the vendor's own program. The id comes from the agent's program, so only a
// plain one becomes an argument.

import type { RunnerName } from "../core/flow/agent-options.ts";
import { isPlainId } from "./session-journal.ts";

type Continue = (session: string) => readonly string[];

const VENDORS: Partial<Record<RunnerName, Continue>> = {
  claude: (session) => ["--resume", session],
  codex: (session) => ["resume", session],
  gemini: (session) => ["--resume", session],
  opencode: (session) => ["--session", session],
};

/** Where the programs keep their sessions, if not in the user's home. */
const PLACES: ReadonlySet<string> = new Set([
  "CLAUDE_CONFIG_DIR",
  "CODEX_HOME",
  "GEMINI_CLI_HOME",
  "OPENCODE_CONFIG",
  "XDG_CONFIG_HOME",
  "XDG_DATA_HOME",
  "XDG_STATE_HOME",
]);

/** `program`: the program with the operator's own arguments. Null where it cannot continue a session by its id. */
export function sessionCommand(
  runner: RunnerName,
  program: readonly string[],
  session: string,
): readonly string[] | null {
  const continued = isPlainId(session) && !session.startsWith("-") ? VENDORS[runner]?.(session) : undefined;
  return continued === undefined ? null : [...program, ...continued];
}

/** The variables of a program's settings that say where its sessions are; the others may be secrets. */
export function sessionPlaces(env: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => PLACES.has(name)));
}
