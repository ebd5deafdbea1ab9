// The files of a repository that Gemini CLI executes or obeys without asking, and how Passrail keeps them off.
//
// The program reads settings and variables of a workspace while the folder is not trusted; then the flag --skip-trust makes it trusted: our
// MCP servers and GEMINI.md work, the repository's settings do not. Over the protocol it reads settings again for each session, after the
// flag, so there they cannot be kept off; `uncontrolledSettings` says whether that matters for a folder.

import { access } from "node:fs/promises";
import { join } from "node:path";

/** Files that take effect over the protocol. Extensions, agents and policies of a workspace do not (measured with 0.61.0). */
const EFFECTIVE = [".gemini/settings.json", ".gemini/.env", ".env"] as const;

/** The effective files that exist. */
export async function uncontrolledSettings(cwd: string): Promise<string[]> {
  const present = await Promise.all(EFFECTIVE.map((path) => exists(join(cwd, path))));
  return EFFECTIVE.filter((_path, index) => present[index]);
}

/** Arguments and variables that make the folder trusted, with its settings or without. */
export function trust(repositorySettings: boolean): {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
} {
  return { args: ["--skip-trust"], env: { GEMINI_CLI_TRUST_WORKSPACE: repositorySettings ? "true" : "false" } };
}

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    // The program may be able to read a file that we cannot inspect.
    (error: NodeJS.ErrnoException) => error.code !== "ENOENT" && error.code !== "ENOTDIR",
  );
