// Service keys from the project's `.env`, where the environment has none (004). Passrail reads only these few names, stores and shows none
// of them, and agents get them only where they would get them from the environment.

import { execFileSync } from "node:child_process";
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";

type Environment = Readonly<Record<string, string | undefined>>;

const NAMES = ["DAYTONA_API_KEY", "ANTHROPIC_API_KEY", "GITHUB_TOKEN", "MERGE_MODE", "MAX_WORKERS"] as const;
const MAX_BYTES = 64 * 1024;

/** The environment, plus the keys that only the file has. */
export function withProjectKeys(environment: Environment, project: string): Environment {
  const missing = NAMES.filter((name) => (environment[name] ?? "") === "");
  if (missing.length === 0) return environment;
  const text = readPrivate(join(project, ".env"));
  if (text === undefined || isTracked(project)) return environment;
  const found = parseEnv(text);
  return {
    ...environment,
    ...Object.fromEntries(missing.flatMap((name) => (found[name] === undefined ? [] : [[name, found[name]]]))),
  };
}

/** Only a plain file, not a link; undefined for everything else. */
function readPrivate(path: string): string | undefined {
  let fd: number;
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    const { size } = fstatSync(fd);
    return fstatSync(fd).isFile() && size <= MAX_BYTES ? readFileSync(fd, "utf8") : undefined;
  } finally {
    closeSync(fd);
  }
}

/** A repository that brings its own keys could let their owner watch the user's agents. */
function isTracked(project: string): boolean {
  const safe = ["-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null", "-C", project];
  try {
    const listed = execFileSync("git", [...safe, "ls-files", "--", ".env"], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      timeout: 10_000,
    });
    return listed.trim() !== "";
  } catch {
    return false;
  }
}
