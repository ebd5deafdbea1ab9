// Loose ends: things that wait for a person without a question of a stage. Finished work that has not landed, a run that stopped, a ticket
// that is blocked, a file that cannot be used, files that wait for trust. None of them is stored: each is read from the
// run, the ticket or the file itself, so it disappears as soon as that is settled. CLI, API, MCP, notices and dashboard
// show this one reading.

import type { FileProblem } from "../check/problem.ts";
import { ticketProject, runFacts } from "../run/facts.ts";
import type { JsonObject } from "../json.ts";
import { hasNeverBegun } from "../run/postponement.ts";
import type { Run } from "../run/run.ts";
import type { Landed } from "../ticket/landed.ts";
import { formatTicketProblem, type PlannedTicket, type TicketPlan } from "../ticket/plan.ts";
import type { TicketProblem, TicketScan } from "../ticket/ticket.ts";
import type { WaitingMerge } from "../run/waiting-merge.ts";
import {
  blockedVerbs,
  brokenCatalogVerbs,
  brokenTicketVerbs,
  type LooseEndVerb,
  proposedVerbs,
  stoppedVerbs,
  TRUST_VERBS,
  unmergedVerbs,
} from "./loose-end-verb.ts";
import type { RunEnd } from "./run-end.ts";

export const LOOSE_END_KINDS = ["merge", "stopped", "blocked", "file", "trust"] as const;

export type LooseEnd = {
  /** The same as long as the same thing waits: `stopped:<run>`, `file:<path>`. */
  readonly id: string;
  readonly kind: (typeof LOOSE_END_KINDS)[number];
  /** The run's or the ticket's title, or the name of the file. */
  readonly title: string;
  /** The cause, in a sentence. */
  readonly text: string;
  /** ISO 8601, UTC; null if unknown. */
  readonly since: string | null;
  readonly run: { readonly id: string; readonly number: number } | null;
  /** The ticket's id; null if it is about no ticket. */
  readonly ticket: string | null;
  /** A notice of its run has said it already. */
  readonly isTold: boolean;
  /** The ways to settle it, the usual one first. */
  readonly verbs: readonly LooseEndVerb[];
};

type EndedAttempt = { readonly stage: string; readonly outcome: JsonObject | null };

/** The track that stopped first gives the reason; the run may have others that still work. `attempts`: oldest first. */
export function stoppedEnd(run: Run, number: number, attempts: readonly EndedAttempt[]): LooseEnd | undefined {
  const stopped = Object.values(run.tracks).filter((track) => track.at === "stopped");
  const [first] = stopped.toSorted((a, b) => (a.since < b.since ? -1 : 1));
  if (first === undefined || run.status === "canceled" || run.status === "completed") return undefined;
  const named = stopped.length > 1 ? ` --stage ${first.stage}` : "";
  const cause = attempts.findLast(({ stage }) => stage === first.stage)?.outcome?.["cause"];
  // Its agent could not be started: there is nothing to accept.
  const neverBegan = typeof cause === "string" && hasNeverBegun(cause);
  return {
    ...ofRun("stopped", run, number),
    text: `${first.stage} stopped: ${first.reason}`,
    since: first.since,
    isTold: true,
    verbs: stoppedVerbs(number, first.stage, { named, neverBegan }),
  };
}

/** Its pull request, or its pushed branch, waits for its merge. */
export function proposedEnd(run: Run, number: number, waits: WaitingMerge, landed: Landed | undefined): LooseEnd {
  const url = landed?.pr?.url ?? null;
  const what =
    landed === undefined
      ? "its merge, of which nothing is recorded"
      : url === null
        ? `the branch ${landed.branch} to be merged into ${landed.target}`
        : `its pull request to be merged into ${landed.target}`;
  return {
    ...ofRun("merge", run, number),
    text: `The work is finished. ${waits.stage} waits for ${what}.`,
    since: waits.since,
    isTold: false,
    verbs: proposedVerbs(number, run.subject.id, waits, landed),
  };
}

/** A completed run whose commits are on its branch only. Undefined if there is nothing to merge. */
export function unmergedEnd(run: Run, number: number, end: RunEnd): LooseEnd | undefined {
  if (run.status !== "completed" || end.state !== "kept") return undefined;
  return {
    ...ofRun("merge", run, number),
    text: `The work is finished and has not landed. ${end.text}`,
    since: run.endedAt,
    isTold: true,
    verbs: unmergedVerbs(number, end),
  };
}

export type TicketFacts = {
  readonly scan: TicketScan;
  readonly plan: TicketPlan;
  /** Ids of this project's tickets whose run is in the inbox with its own item. */
  readonly told: ReadonlySet<string>;
  /** The time of the last change of a file, by its path relative to the project. */
  readonly changedAt: (path: string) => string | null;
};

/** Tickets that a person has to move, and files that cannot be used as tickets. */
export function ticketEnds({ scan, plan, told, changedAt }: TicketFacts): readonly LooseEnd[] {
  const broken = brokenFiles(scan, plan);
  const blocked = [...plan.tickets.values()].filter(
    ({ state, ticket }) => state === "intervention" && !told.has(ticket.id) && !broken.has(ticket.path),
  );
  return [
    ...blocked.map((planned) => blockedEnd(planned, changedAt)),
    ...[...broken].map(([path, problems]) => brokenTicketEnd(path, problems, changedAt)),
  ];
}

/** The refusing problems by file. The plan adds those that only all tickets together show, such as circles. */
function brokenFiles(
  { problems }: TicketScan,
  { tickets }: TicketPlan,
): ReadonlyMap<string, readonly [TicketProblem, ...TicketProblem[]]> {
  const found = new Map<string, [TicketProblem, ...TicketProblem[]]>();
  const planned = [...tickets.values()].flatMap((each) => (each.state === "refused" ? [each.problem] : []));
  const isOver = (ticket: string | undefined): boolean => {
    const state = ticket === undefined ? undefined : tickets.get(ticket)?.state;
    return state === "ended" || state === "working" || state === "awaiting-merge";
  };
  for (const problem of [...problems.filter(({ severity }) => severity === "refused"), ...planned]) {
    if (isOver(problem.ticket)) continue;
    const known = found.get(problem.path);
    if (known === undefined) found.set(problem.path, [problem]);
    else if (!known.some(({ code, message }) => code === problem.code && message === problem.message))
      known.push(problem);
  }
  return found;
}

function blockedEnd({ ticket, why }: PlannedTicket, changedAt: TicketFacts["changedAt"]): LooseEnd {
  const { id, title, path, status, lastError } = ticket;
  return {
    id: `blocked:${id}`,
    kind: "blocked",
    title,
    text: lastError === null ? `${id} is ${why}.` : `${id} is ${status}: ${lastError}`,
    since: changedAt(path),
    run: null,
    ticket: id,
    isTold: false,
    verbs: blockedVerbs(id),
  };
}

function brokenTicketEnd(
  path: string,
  [first, ...more]: readonly [TicketProblem, ...TicketProblem[]],
  changedAt: TicketFacts["changedAt"],
): LooseEnd {
  const id = first.ticket;
  return {
    id: `file:${path}`,
    kind: "file",
    title: path,
    text: `The ticket cannot start. ${formatTicketProblem(first)}${andMore(more.length)}`,
    since: changedAt(path),
    run: null,
    ticket: id ?? null,
    isTold: false,
    verbs: brokenTicketVerbs(path, id),
  };
}

/** One entry per file, with the first of its problems. `path` is relative to the project. */
export function brokenCatalogEnds(
  problems: readonly (FileProblem & { readonly path: string })[],
  changedAt: TicketFacts["changedAt"],
): readonly LooseEnd[] {
  const files = Map.groupBy(
    problems.filter(({ severity }) => severity === "error"),
    ({ path }) => path,
  );
  return [...files].flatMap(([path, [first, ...more]]): LooseEnd[] =>
    first === undefined
      ? []
      : [
          {
            id: `file:${path}`,
            kind: "file",
            title: path,
            text: `No run can use it. ${path}:${first.line}:${first.column}: ${first.code}: ${first.message}${andMore(more.length)}`,
            since: changedAt(path),
            run: null,
            ticket: null,
            isTold: false,
            verbs: brokenCatalogVerbs(path),
          },
        ],
  );
}

export type TrustFacts = {
  readonly project: string;
  readonly state: "new" | "changed";
  readonly hash: string;
  /** Added, changed or removed; relative to the project. */
  readonly paths: readonly string[];
  readonly changedAt: TicketFacts["changedAt"];
};

/** Files that decide what runs, without an approval yet. */
export function trustEnd({ project, state, hash, paths, changedAt }: TrustFacts): LooseEnd {
  const times = paths.flatMap((path) => changedAt(path) ?? []);
  const meanwhile =
    state === "new" ? "Nothing of this project starts before that." : "Until then runs keep the approved version.";
  const names =
    paths.length <= NAMED ? paths.join(", ") : `${paths.slice(0, NAMED).join(", ")} and ${paths.length - NAMED} more`;
  return {
    id: `trust:${hash.slice(0, 16)}`,
    kind: "trust",
    title: project,
    text: `Files that decide what runs wait for your approval: ${names}. ${meanwhile}`,
    since: times.toSorted().at(-1) ?? null,
    run: null,
    ticket: null,
    isTold: false,
    verbs: TRUST_VERBS,
  };
}

const NAMED = 5;

/** Oldest first; what has no time comes last. */
export function inOrder(ends: readonly LooseEnd[]): readonly LooseEnd[] {
  return ends.toSorted((a, b) => (a.since ?? "9").localeCompare(b.since ?? "9") || (a.id < b.id ? -1 : 1));
}

function ofRun(kind: LooseEnd["kind"], run: Run, number: number) {
  const { ticket } = runFacts(run);
  return {
    id: `${kind}:${run.id}`,
    kind,
    title: run.subject.title,
    run: { id: run.id, number },
    ticket: ticket.file !== null && ticketProject(run) !== null ? run.subject.id : null,
  };
}

function andMore(count: number): string {
  return count === 0 ? "" : ` (and ${count} more)`;
}
