// Which tickets may start now, in which order, and why the others may not: from their files, the running runs and the rules of their flows.
// Starts nothing. Linear in the number of tickets and dependencies.

import { branchesById, branchName } from "./branches.ts";
import { dependencyCycles, dependentsById, formatCycle } from "./graph.ts";
import { DEFAULT_PICK_RULES, type PickRulesOf } from "./pick-rules.ts";
import { isActionable, isAwaitingMerge, isIntervention, isOver } from "./status.ts";
import type { Ticket, TicketProblem, TicketScan } from "./ticket.ts";

/** The runs and branches in use at the moment. */
export type PlanFacts = {
  /** Ids of tickets with a run that has not ended. */
  readonly busy: ReadonlySet<string>;
  /** Branches of runs that have not ended. */
  readonly busyBranches: ReadonlySet<string>;
};

export type Obstacle = { readonly ticket: string; readonly why: string };

export type TicketState =
  /** `rank` counts from 0; the lowest starts first. */
  | { readonly state: "eligible"; readonly rank: number }
  | { readonly state: "waits"; readonly on: readonly Obstacle[] }
  | { readonly state: "refused"; readonly problem: TicketProblem }
  | { readonly state: "working" }
  | { readonly state: "intervention" }
  | { readonly state: "awaiting-merge" }
  | { readonly state: "ended" };

export type PlannedTicket = TicketState & {
  readonly ticket: Ticket;
  readonly branch: string;
  readonly dependents: readonly string[];
  /** One sentence for people. */
  readonly why: string;
};

export type TicketPlan = {
  readonly tickets: ReadonlyMap<string, PlannedTicket>;
  /** In the order in which they should start. */
  readonly eligible: readonly Ticket[];
};

/** `rulesOf`: the rules of the flow that a ticket names. */
export function planTickets(
  { tickets, problems }: TicketScan,
  { busy, busyBranches }: PlanFacts,
  rulesOf: PickRulesOf = () => DEFAULT_PICK_RULES,
): TicketPlan {
  const byId = new Map(tickets.map((ticket) => [ticket.id, ticket]));
  const refusals = refusalsById(problems);
  const cycles = dependencyCycles(tickets.map((ticket) => ({ id: ticket.id, dependsOn: unmet(ticket) })));
  const dependents = dependentsById(tickets);
  const branches = branchesById(tickets);
  const branchOf = (ticket: Ticket): string => branches.get(ticket.id) ?? branchName(ticket);
  // Branches that differ only in case are the same file on some machines.
  const held = new Map([...busyBranches].map((branch) => [branch.toLowerCase(), ""]));
  for (const ticket of tickets) {
    // A run that waits for a person may wait for days; other tickets of its group need not wait with it.
    if (busy.has(ticket.id) && !isIntervention(ticket.status)) held.set(branchOf(ticket).toLowerCase(), ticket.id);
  }

  const planned = new Map<string, PlannedTicket>();
  const eligible: Ticket[] = [];
  for (const ticket of [...tickets].sort(byRank)) {
    const branch = branchOf(ticket);
    const [state, why] = judge(ticket, branch);
    planned.set(ticket.id, { ...state, ticket, branch, dependents: dependents.get(ticket.id) ?? [], why });
    if (state.state !== "eligible") continue;
    eligible.push(ticket);
    held.set(branch.toLowerCase(), ticket.id);
  }
  return { tickets: planned, eligible };

  function judge(ticket: Ticket, branch: string): readonly [TicketState, string] {
    const { id, status } = ticket;
    const { skip, startsFrom } = rulesOf(ticket.flow);
    const starts = startsFrom.has(status);
    if (skip.has(status) || (isIntervention(status) && (busy.has(id) || !starts)))
      return [{ state: "intervention" }, `${status}: a person has to act`];
    if (isAwaitingMerge(status)) return [{ state: "awaiting-merge" }, "its pull request is not merged yet"];
    if (busy.has(id)) return [{ state: "working" }, `a run works on it (${status})`];
    if (isOver(status)) return [{ state: "ended" }, `it is ${status}`];
    if (!starts && isActionable(status))
      return [{ state: "intervention" }, `${status}: its flow starts no ticket from this status`];
    if (!starts) return [{ state: "working" }, `${status}, but no run of this machine works on it`];
    const problem = refusals.get(id) ?? cycleProblem(ticket, cycles) ?? repoProblem(ticket);
    if (problem !== undefined) return [{ state: "refused", problem }, problem.message];
    const on = unmet(ticket).map(obstacle);
    if (on.length > 0) return [{ state: "waits", on }, `waits for ${on.map(formatObstacle).join(", ")}`];
    const holder = held.get(branch.toLowerCase());
    if (holder === undefined) return [{ state: "eligible", rank: eligible.length }, `it can start (${status})`];
    if (holder === "") return [{ state: "waits", on: [] }, `another run works on the branch ${branch}`];
    const before = busy.has(holder) ? "works on the same branch" : "comes first on the same branch";
    return [{ state: "waits", on: [{ ticket: holder, why: before }] }, `${holder} ${before} (${branch})`];
  }

  /** Dependencies that block this ticket by the rules of its own flow. */
  function unmet({ dependsOn, flow }: Ticket): readonly string[] {
    const { satisfied, waitsForDependencies } = rulesOf(flow);
    if (!waitsForDependencies) return [];
    return dependsOn.filter((id) => {
      const before = byId.get(id);
      const doubt = refusals.get(id);
      return before === undefined || (doubt !== undefined && DOUBTFUL.has(doubt.code)) || !satisfied.has(before.status);
    });
  }

  function obstacle(id: string): Obstacle {
    const found = byId.get(id);
    if (found === undefined) return { ticket: id, why: refusals.has(id) ? "its file is broken" : "unknown dependency" };
    const doubt = refusals.get(id);
    if (doubt !== undefined && DOUBTFUL.has(doubt.code)) return { ticket: id, why: "its file is in doubt" };
    return { ticket: id, why: cycles.has(id) ? `${found.status}, in a circle` : found.status };
  }
}

/** Everything that the scan and the plan know about one ticket, a line each, the decision first. */
export function explainTicket(id: string, { tickets, problems }: TicketScan, plan: TicketPlan): readonly string[] {
  const planned = plan.tickets.get(id);
  const own = problems.filter(({ ticket }) => ticket === id).map(formatTicketProblem);
  if (planned === undefined) return own.length > 0 ? [`${id} cannot be read`, ...own] : [`there is no ticket ${id}`];
  const byId = new Map(tickets.map((ticket) => [ticket.id, ticket.status]));
  const { ticket, branch, dependents, why } = planned;
  return [
    `${id} (${ticket.status}): ${why}`,
    ...(planned.state === "eligible" ? [`place in line: ${planned.rank + 1} of ${plan.eligible.length}`] : []),
    ...ticket.dependsOn.map((before) => `depends on ${before}: ${byId.get(before) ?? "unknown dependency"}`),
    dependents.length === 0 ? "nothing depends on it" : `waited for by ${dependents.join(", ")}`,
    `branch: ${branch}`,
    ...(ticket.conflict === null ? [] : [`conflict: ${ticket.conflict}`]),
    ...own,
  ];
}

/** feature_requests/FR-1/AGI-7.md:3:9: unknown_status: … */
export function formatTicketProblem({ path, line, column, code, message }: TicketProblem): string {
  const place = line === undefined ? path : `${path}:${line}:${column ?? 1}`;
  return `${place}: ${code}: ${message}`;
}

/** Two files claim one id, or a file claims two: its status may be that of another ticket. */
const DOUBTFUL: ReadonlySet<string> = new Set(["duplicate_id", "id_mismatch"]);
/** The plan itself finds these, from all tickets together. */
const JUDGED_HERE: ReadonlySet<string> = new Set(["unknown_dependency", "dependency_cycle"]);

function refusalsById(problems: readonly TicketProblem[]): ReadonlyMap<string, TicketProblem> {
  const found = new Map<string, TicketProblem>();
  for (const problem of problems) {
    const { ticket, severity, code } = problem;
    if (ticket === undefined || severity !== "refused" || JUDGED_HERE.has(code)) continue;
    if (!found.has(ticket)) found.set(ticket, problem);
  }
  return found;
}

function byRank(one: Ticket, other: Ticket): number {
  const priority = (one.priority ?? Number.POSITIVE_INFINITY) - (other.priority ?? Number.POSITIVE_INFINITY);
  // Infinity minus itself is NaN: neither has a priority.
  return priority || one.number - other.number || 0;
}

function cycleProblem({ id, path }: Ticket, cycles: ReadonlyMap<string, readonly string[]>): TicketProblem | undefined {
  const cycle = cycles.get(id);
  if (cycle === undefined) return undefined;
  return { code: "dependency_cycle", message: cycleMessage(cycle), severity: "refused", path, ticket: id };
}

export function cycleMessage(cycle: readonly string[]): string {
  return `tickets wait for each other in a circle: ${formatCycle(cycle)}`;
}

function repoProblem({ id, path, repo }: Ticket): TicketProblem | undefined {
  if (repo !== "TBD") return undefined;
  const message = 'repo is "TBD": the ticket does not say yet where the work belongs';
  return { code: "repo_missing", message, severity: "refused", path, ticket: id };
}

function formatObstacle({ ticket, why }: Obstacle): string {
  return `${ticket} (${why})`;
}
