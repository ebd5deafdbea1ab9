// The ticket files and their plan, as the server knows them: read once, then only the changed files, and planned again when files, runs or
// flows have changed. Every page and list asks here, so that no request reads ten thousand files.

import { planTickets } from "../../../core/ticket/plan.ts";
import type { PickRulesOf } from "../../../core/ticket/pick-rules.ts";
import type { Ticket, TicketProblem, TicketScan } from "../../../core/ticket/ticket.ts";
import type { KnownTickets, TicketsNow } from "../project-tickets.ts";
import type { TicketFolder } from "../../../ticket/file/folder.ts";

/** The port through which the server learns of ticket files, of the runs that work on them and of the rules that pick them. */
export type TicketFiles = {
  folder(): Promise<TicketFolder>;
  /** Reads the changed files of the folder now. */
  look(): Promise<TicketScan>;
  /** Calls `onChange` when files or the work on tickets have changed. */
  listen(onChange: () => void): () => void;
  /** Ids of tickets with a run that has not ended. */
  busy(): ReadonlySet<string>;
  /** The current pick rules of the flows; the same function as before if no flow has changed. */
  rules(): PickRulesOf;
};

type Options = {
  readonly source: TicketFiles;
  /** Called with the ids of tickets that have changed. */
  readonly onChange: (ids: readonly string[]) => void;
  readonly onProblem: (error: unknown) => void;
};

/** Runs change many times a second; changes within this time cause one scan. */
const GATHER_MS = 100;

export function createKnownTickets({ source, onChange, onProblem }: Options): KnownTickets {
  let isClosed = false;
  let mustLook = true;
  let known: TicketsNow | undefined;
  let gather: NodeJS.Timeout | undefined;
  const look = oneAtATime(lookOnce);
  const stop = source.listen(() => {
    gather ??= setTimeout(() => {
      gather = undefined;
      if (!isClosed) look().catch(onProblem);
    }, GATHER_MS);
  });

  return {
    folder: () => source.folder(),
    now: async () => (known === undefined || mustLook || known.rules !== source.rules() ? look() : known),
    fresh: look,
    wrote() {
      mustLook = true;
    },
    close() {
      isClosed = true;
      clearTimeout(gather);
      stop();
    },
  };

  async function lookOnce(): Promise<TicketsNow> {
    mustLook = false;
    const before = known;
    const scan = await source.look().catch((error: unknown) => {
      mustLook = true;
      throw error;
    });
    const busy = source.busy();
    const rules = source.rules();
    if (before !== undefined && before.scan === scan && before.rules === rules && isSame(before.busy, busy))
      return before;
    known = snapshot(scan, busy, rules);
    const changed = before === undefined ? [] : changedIds(before, known);
    if (changed.length > 0) onChange(changed);
    return known;
  }
}

/** Each call gets a pass that begins after it: an earlier one may have missed changes that the caller knows of. */
function oneAtATime<T>(task: () => Promise<T>): () => Promise<T> {
  let current: Promise<T> | undefined;
  let next: Promise<T> | undefined;
  const begin = (): Promise<T> => {
    current = task().finally(() => {
      current = undefined;
    });
    return current;
  };
  return () => {
    if (current === undefined) return begin();
    next ??= current
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        return begin();
      });
    return next;
  };
}

function snapshot(scan: TicketScan, busy: ReadonlySet<string>, rules: PickRulesOf): TicketsNow {
  const plan = planTickets(scan, { busy, busyBranches: new Set() }, rules);
  const problems = new Map<string, TicketProblem[]>();
  for (const problem of scan.problems) {
    if (problem.ticket === undefined) continue;
    const own = problems.get(problem.ticket);
    if (own === undefined) problems.set(problem.ticket, [problem]);
    else own.push(problem);
  }
  const newestFirst = [...plan.tickets.values()].toSorted((a, b) => b.ticket.number - a.ticket.number);
  return { scan, plan, newestFirst, problems, busy, rules };
}

/** Tickets that are new, gone or different, in their file or in the plan. */
function changedIds(before: TicketsNow, after: TicketsNow): readonly string[] {
  const changed: string[] = [];
  for (const [id, planned] of after.plan.tickets) {
    const old = before.plan.tickets.get(id);
    if (old === undefined || !isSameFile(old.ticket, planned.ticket) || old.why !== planned.why) changed.push(id);
  }
  for (const id of before.plan.tickets.keys()) if (!after.plan.tickets.has(id)) changed.push(id);
  // Only the problems of files that are no tickets have changed.
  if (changed.length === 0 && before.scan !== after.scan) return [""];
  return changed;
}

function isSameFile(one: Ticket, other: Ticket): boolean {
  return one === other || (one.hash === other.hash && one.path === other.path);
}

function isSame(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one === other || (one.size === other.size && [...one].every((id) => other.has(id)));
}
