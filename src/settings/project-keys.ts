// Service keys from the project's `.env`, where the environment has none (004). Passrail reads only these few names, stores and shows no
// key, and agents get them only where they would get them from the environment. The switches decide what happens to work, so they count
// in the version that an operator approved.

import { execFileSync } from "node:child_process";
import { closeSync, constants, fstatSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseEnv } from "node:util";

type Environment = Readonly<Record<string, string | undefined>>;

const KEYS = ["DAYTONA_API_KEY", "ANTHROPIC_API_KEY", "GITHUB_TOKEN"] as const;
const SWITCHES = ["MERGE_MODE", "MAX_WORKERS"] as const;
const MAX_BYTES = 64 * 1024;

/** The environment, plus the keys that only the file has. `approved` is the folder with the approved switches; null if there are none. */
export function withProjectKeys(environment: Environment, project: string, approved: string | null): Environment {
  const isMissing = (name: string): boolean => (environment[name] ?? "") === "";
  const keys = KEYS.some(isMissing) ? untracked(project) : {};
  const switches = approved !== null && SWITCHES.some(isMissing) ? parsed(readPrivate(join(approved, ".env"))) : {};
  const found = { ...pick(keys, KEYS), ...pick(switches, SWITCHES) };
  const missing = Object.entries(found).filter(([name]) => isMissing(name));
  return missing.length === 0 ? environment : { ...environment, ...Object.fromEntries(missing) };
}

/** The switches in the project's `.env` as lines; empty without any. */
export function projectSwitches(project: string): string {
  const text = readPrivate(join(project, ".env"));
  if (text === undefined || !SWITCHES.some((name) => text.includes(name))) return "";
  const found = pick(untracked(project), SWITCHES);
  return Object.entries(found)
    .map(([name, value]) => `${name}=${JSON.stringify(value)}\n`)
    .join("");
}

function untracked(project: string): Environment {
  const text = readPrivate(join(project, ".env"));
  return text === undefined || isTracked(project) ? {} : parsed(text);
}

function parsed(text: string | undefined): Environment {
  return text === undefined ? {} : parseEnv(text);
}

function pick(from: Environment, names: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.flatMap((name) => (from[name] === undefined || from[name] === "" ? [] : [[name, from[name]]])),
  );
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
