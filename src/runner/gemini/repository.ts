// What a repository can bring that Gemini CLI executes or obeys by itself, and how that stays off.
//
// Settings and variables of a workspace are read while the folder is not trusted, then the flag --skip-trust makes it trusted: MCP servers
// of ours and GEMINI.md work, the repository's settings do not. Over the protocol settings are read again for each session, after the
// flag, so there they cannot be kept off; `uncontrolledSettings` says whether that matters for a folder.

import { access } from "node:fs/promises";
import { join } from "node:path";

/** Files that take effect over the protocol. Extensions, agents and policies of a workspace do not (measured with 0.61.0). */
const EFFECTIVE = [".gemini/settings.json", ".gemini/.env", ".env"] as const;

/** Those of them that are there. */
export async function uncontrolledSettings(cwd: string): Promise<string[]> {
  const present = await Promise.all(EFFECTIVE.map((path) => exists(join(cwd, path))));
  return EFFECTIVE.filter((_path, index) => present[index]);
}

/** Arguments and variables by which the folder is trusted, with its settings or without. */
export function trust(repositorySettings: boolean): {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
} {
  return { args: ["--skip-trust"], env: { GEMINI_CLI_TRUST_WORKSPACE: repositorySettings ? "true" : "false" } };
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    // Whatever is there but cannot be looked at may still be read by the program.
    (error: NodeJS.ErrnoException) => error.code !== "ENOENT" && error.code !== "ENOTDIR",
  );
