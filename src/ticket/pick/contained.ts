// The commits that a ticket's branch must hold before an attempt works on it: the finished work of the tickets that it depends on.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { landedRecord } from "../../core/ticket/landed.ts";
import { branchesById, branchName } from "../../core/ticket/branches.ts";
import { hasFinishedWork, type TicketStatus } from "../../core/ticket/status.ts";
import type { Ticket } from "../../core/ticket/ticket.ts";
import type { Store } from "../../store/store.ts";
import { ownRuns } from "./own-runs.ts";

const COMMIT = /^[0-9a-f]{40}([0-9a-f]{24})?$/u;
const BRANCH = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$/u;
const MOST = 100;

export type Containing = {
  readonly store: Store;
  /** The project whose folder has the tickets, and the repository that agents work in. */
  readonly project: string;
  readonly repository: string;
  readonly tickets: ReadonlyMap<string, Ticket>;
  /** Statuses that satisfy a dependency, by the ticket's flow. */
  readonly satisfied: ReadonlySet<TicketStatus>;
};

/** The commit of a dependency contains the work before it; if a dependency has none, its own dependencies count. */
export async function containedCommits(ticket: Ticket, context: Containing): Promise<readonly string[]> {
  const commits = new Set<string>();
  const seen = new Set<string>([ticket.id]);
  const open = [...ticket.dependsOn];
  const isBuiltOn = (status: TicketStatus): boolean => context.satisfied.has(status) && hasFinishedWork(status);
  for (let id = open.shift(); id !== undefined && commits.size < MOST; id = open.shift()) {
    if (seen.has(id)) continue;
    seen.add(id);
    const before = context.tickets.get(id);
    if (before === undefined) continue;
    const commit = isBuiltOn(before.status) ? await commitOf(before, context) : undefined;
    if (commit === undefined) open.push(...before.dependsOn);
    else commits.add(commit);
  }
  return [...commits];
}

async function commitOf(
  ticket: Ticket,
  { store, project, repository, tickets }: Containing,
): Promise<string | undefined> {
  for (const { id, status } of await ownRuns(store, project, ticket.id)) {
    if (status !== "completed") continue;
    const landed = landedRecord(await store.attempts(id));
    if (landed !== undefined) return landed.commit;
  }
  const branch = branchesById([...tickets.values()]).get(ticket.id) ?? branchName(ticket);
  return headOf(repository, branch);
}

const run = promisify(execFile);

/** Reads a ref and nothing else; undefined if there is no such branch or no repository. */
async function headOf(repository: string, branch: string): Promise<string | undefined> {
  if (!BRANCH.test(branch) || branch.includes("..")) return undefined;
  const args = ["--no-pager", "-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false", "-C", repository];
  const query = ["rev-parse", "--verify", "--quiet", "--end-of-options", `refs/heads/${branch}^{commit}`];
  try {
    const { stdout } = await run("git", [...args, ...query], { timeout: 10_000, maxBuffer: 4096 });
    const commit = stdout.trim();
    return COMMIT.test(commit) ? commit : undefined;
  } catch {
    return undefined;
  }
}
