// Decisions belong to people: an agent that calls this program may read but not act. Checks the environment and the parent processes. If
// an agent runs with its user's rights, this check is a fence and not a wall; SECURITY.md says so.

import { readFileSync, realpathSync } from "node:fs";
import { storeMark } from "../attempt/attempt-files.ts";
import { CliError } from "./errors.ts";
import type { Io } from "./terminal/io.ts";

const MARKER = "PASSRAIL_MARKER";
const MAX_ANCESTORS = 64;

/** Throws where this program was started by an attempt. */
export function requireOperator(io: Pick<Io, "environment" | "home">, verb: string): void {
  if (!isAgent(io)) return;
  throw new CliError(
    "operator_only",
    `"passrail ${verb}" is for people; an attempt called it.`,
    "An agent reports through its verdict. To decide, call it from your own terminal.",
  );
}

export function isAgent({ environment, home }: Pick<Io, "environment" | "home">): boolean {
  const own = environment[MARKER];
  return (own !== undefined && own !== "") || isBelowAttempt(home);
}

/** An agent can clear its environment, not that of its parents. Only attempts of this store count: a store inside an attempt is its own. */
function isBelowAttempt(home: string): boolean {
  const mark = `${MARKER}=${storeMark(realOf(home))}/`;
  let pid = process.ppid;
  for (let steps = 0; pid > 1 && steps < MAX_ANCESTORS; steps++) {
    const found = ancestor(pid);
    if (found === undefined) return false;
    if (found.environment.some((entry) => entry.startsWith(mark))) return true;
    pid = found.parent;
  }
  return false;
}

/** Only where there is /proc; elsewhere the environment alone decides. */
function ancestor(pid: number): { readonly environment: readonly string[]; readonly parent: number } | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    const parent = Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]);
    return { environment: environmentOf(pid), parent };
  } catch {
    return undefined;
  }
}

/** Processes of other users cannot be read; they are no attempts of ours. */
function environmentOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/environ`, "latin1").split("\0");
  } catch {
    return [];
  }
}

function realOf(home: string): string {
  try {
    return realpathSync(home);
  } catch {
    return home;
  }
}
