// The AGENTS.md that Claude Code must be pointed at: it reads the file only if there is no CLAUDE.md, and not at all while the repository's
// settings are off.

import { existsSync } from "node:fs";
import { join } from "node:path";

/** The AGENTS.md of a workspace without a CLAUDE.md. The program reads it: Passrail gives it no file that it may not read. */
export function unreadAgentsFile(cwd: string): string | null {
  if (["CLAUDE.md", ".claude/CLAUDE.md"].some((name) => existsSync(join(cwd, name)))) return null;
  const path = join(cwd, "AGENTS.md");
  return existsSync(path) ? path : null;
}
