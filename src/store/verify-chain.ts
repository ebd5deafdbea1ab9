// Whether events are as they were written and runs are the fold of their events. Pure: each store reads its rows, this judges them.

import { evolve } from "../core/run/evolve.ts";
import type { Run } from "../core/run/run.ts";
import type { RunEvent } from "../core/run/event.ts";
import { CHAIN_START, commitHash } from "./chain.ts";
import { type EventRow, type RunTableRow, runColumns } from "./rows.ts";
import type { Damage } from "./store.ts";

export const DAMAGES_AT_MOST = 100;

/** The state of a run by its events so far. */
export type ChainHead = {
  readonly version: number;
  /** Differs from `version` when rows were lost or renumbered. */
  readonly counted: number;
  readonly hash: string;
  /** Differs from `hash` when the last row was edited. */
  readonly computed: string;
  readonly seq: number;
  readonly at: string;
};

/** The rows of one commit, at least one: the last has the hash of all. */
export function* checkCommit(rows: readonly EventRow[], heads: Map<string, ChainHead>): Generator<Damage> {
  const [first, row] = [rows[0], rows.at(-1)];
  if (first === undefined || row === undefined) return;
  const head = heads.get(row.run_id) ?? { version: 0, counted: 0, hash: CHAIN_START, computed: CHAIN_START };
  const computed = commitHash(head.hash, row.run_id, first.version, rows);
  heads.set(row.run_id, {
    version: row.version,
    counted: head.counted + rows.length,
    hash: row.hash,
    computed,
    seq: row.seq,
    at: row.at,
  });
  // After an edited row the next one may match either the present row or the right one: only the edited row is named.
  const isInOrder = first.version === head.version + 1 || first.version === head.counted + 1;
  const isHash = computed === row.hash || commitHash(head.computed, row.run_id, first.version, rows) === row.hash;
  const isAsWritten = isHash && rows.every(({ type, at }) => !/\s/u.test(type + at));
  const where = { seq: row.seq, runId: row.run_id };
  if (first.seq < 1) yield { ...where, what: "an event has a sequence number that is never given" };
  else if (!isInOrder) yield { ...where, what: `version ${first.version} follows version ${head.version} of the run` };
  else if (!isAsWritten) yield { ...where, what: notAsWritten(first.seq, row.seq) };
}

function notAsWritten(from: number, to: number): string {
  return from === to
    ? "the event is not as it was written: its hash does not fit"
    : `events ${from} to ${to} are not as they were written: their hash does not fit`;
}

/** Puts rows together to commits: those without a hash belong to the next one of the run that has one. */
export function createJoining() {
  let open: EventRow[] = [];
  return {
    /** The commits that are whole now, or can never be. */
    add(row: EventRow): readonly (readonly EventRow[])[] {
      const last = open.at(-1);
      const isNext = last === undefined || (row.run_id === last.run_id && row.seq === last.seq + 1);
      const done = isNext ? [] : [open];
      if (!isNext) open = [];
      open.push(row);
      if (row.hash === "") return done;
      done.push(open);
      open = [];
      return done;
    },
    rest: (): readonly (readonly EventRow[])[] => (open.length === 0 ? [] : [open]),
  };
}

export function checkRun(
  row: RunTableRow,
  head: ChainHead | undefined,
  events: () => Iterable<{ readonly event: RunEvent }>,
): string | undefined {
  if (head === undefined) return "the run has no events";
  if (row.version !== head.version) return `the run has version ${row.version}, its events end with ${head.version}`;
  if (row.head !== head.hash) return "the run's head is not the hash of its last event";
  if (row.updated_seq !== head.seq || row.updated_at !== head.at) return "the run's last change is not its last event";
  let run: Run | undefined;
  try {
    for (const { event } of events()) run = evolve(run, event);
  } catch (error) {
    return `the run's events cannot be folded: ${String(error)}`;
  }
  if (run === undefined || JSON.stringify(run) !== row.state) return "the run's state is not the fold of its events";
  const wrong = Object.entries(runColumns(run)).find(
    ([column, value]) => comparable(row[column as keyof RunTableRow]) !== comparable(value),
  );
  return wrong && `the run's column ${wrong[0]} does not fit its state`;
}

/** Postgres holds no NUL: in a column that is taken from a value it is the replacement character. */
export function comparable(value: unknown): string {
  return JSON.stringify(value).replaceAll("\\u0000", "\ufffd");
}

export function missing(from: number, to: number): Damage {
  const what = from === to ? `event ${from} is missing` : `events ${from} to ${to} are missing`;
  return { seq: from, runId: null, what };
}
