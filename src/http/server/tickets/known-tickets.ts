// What is known of the tickets' files at the moment: read once, then only what has changed, and planned anew when files or runs did. Every
// page and list asks here, so that ten thousand files are not looked at for each request.

import { planTickets } from "../../../core/ticket/plan.ts";
import type { Ticket, TicketProblem, TicketScan } from "../../../core/ticket/ticket.ts";
import type { TicketFolder } from "../../../ticket/file/folder.ts";
import type { KnownTickets, TicketsNow } from "../project-tickets.ts";

/** Where the files are, and who works on them. */
export type TicketSource = {
  folder(): Promise<TicketFolder>;
  /** Reads the folder now; what has not changed is not read again. */
  look(): Promise<TicketScan>;
  /** Told when files have changed, or the work on tickets. */
  listen(onChange: () => void): () => void;
  /** Ids of tickets with a run that goes on. */
  busy(): ReadonlySet<string>;
};

type Options = {
  readonly source: TicketSource;
  /** These tickets are not what they were. */
  readonly onChange: (ids: readonly string[]) => void;
  readonly onProblem: (error: unknown) => void;
};

/** Runs change many times a second; all of it together is looked at once. */
const GATHER_MS = 100;

export function createKnownTickets({ source, onChange, onProblem }: Options): KnownTickets {
  let isClosed = false;
  let mustLook = true;
  let known: TicketsNow | undefined;
  /** The look that goes on, and the one that begins after it. */
  let looking: Promise<TicketsNow> | undefined;
  let next: Promise<TicketsNow> | undefined;
  let gather: NodeJS.Timeout | undefined;
  const stop = source.listen(() => {
    gather ??= setTimeout(() => {
      gather = undefined;
      if (!isClosed) look().catch(onProblem);
    }, GATHER_MS);
  });

  return {
    folder: () => source.folder(),
    now: async () => (known === undefined || mustLook ? look() : known),
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

  /** Begins after the question: a look that began before may have missed what the caller knows of. */
  function look(): Promise<TicketsNow> {
    if (looking === undefined) return begin();
    next ??= looking
      .catch(() => undefined)
      .then(() => {
        next = undefined;
        return begin();
      });
    return next;
  }

  function begin(): Promise<TicketsNow> {
    looking = lookOnce().finally(() => {
      looking = undefined;
    });
    return looking;
  }

  async function lookOnce(): Promise<TicketsNow> {
    mustLook = false;
    const before = known;
    const scan = await source.look().catch((error: unknown) => {
      mustLook = true;
      throw error;
    });
    const busy = source.busy();
    if (before !== undefined && before.scan === scan && isSame(before.busy, busy)) return before;
    known = snapshot(scan, busy);
    const changed = before === undefined ? [] : changedIds(before, known);
    if (changed.length > 0) onChange(changed);
    return known;
  }
}

function snapshot(scan: TicketScan, busy: ReadonlySet<string>): TicketsNow {
  const plan = planTickets(scan, { busy, busyBranches: new Set() });
  const problems = new Map<string, TicketProblem[]>();
  for (const problem of scan.problems) {
    if (problem.ticket === undefined) continue;
    const own = problems.get(problem.ticket);
    if (own === undefined) problems.set(problem.ticket, [problem]);
    else own.push(problem);
  }
  const newestFirst = [...plan.tickets.values()].toSorted((a, b) => b.ticket.number - a.ticket.number);
  return { scan, plan, newestFirst, problems, busy };
}

/** What is new, gone or different, in the file or in its place among the others. */
function changedIds(before: TicketsNow, after: TicketsNow): readonly string[] {
  const changed: string[] = [];
  for (const [id, planned] of after.plan.tickets) {
    const old = before.plan.tickets.get(id);
    if (old === undefined || !isSameFile(old.ticket, planned.ticket) || old.why !== planned.why) changed.push(id);
  }
  for (const id of before.plan.tickets.keys()) if (!after.plan.tickets.has(id)) changed.push(id);
  // Only what is wrong with files that are no tickets has changed.
  if (changed.length === 0 && before.scan !== after.scan) return [""];
  return changed;
}

function isSameFile(one: Ticket, other: Ticket): boolean {
  return one === other || (one.hash === other.hash && one.path === other.path);
}

function isSame(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one === other || (one.size === other.size && [...one].every((id) => other.has(id)));
}
