// Writes rows until the table has taken or refused them, and keeps the note about how far the mirror is.

import type { HandoffRowView } from "../core/view/handoff-row.ts";
import { KEPT_REFUSALS, readMirrorNote, type StatusNote, writeMirrorNote } from "./mirror-note.ts";
import type { FeatureRow, StatusTable, TableAnswer } from "./status-table.ts";

export type RowWriter = {
  note(): StatusNote;
  /** Everything up to this event is written. */
  reached(seq: number): void;
  /** False if this process ends before the rows are written. */
  write(row: FeatureRow | null, handoffs: () => Promise<readonly HandoffRowView[]>): Promise<boolean>;
};

export type RowWriterOptions = {
  readonly home: string;
  readonly table: StatusTable;
  readonly incarnation: string;
  readonly now: () => string;
  readonly onProblem: (text: string) => void;
  /** Aborts when this process ends. */
  readonly ending: AbortSignal;
};

const KEPT_HANDOFFS = 2000;
const FIRST_RETRY_MS = 1000;
const LONGEST_RETRY_MS = 60_000;

export function createRowWriter(options: RowWriterOptions): RowWriter {
  const { home, table, now, onProblem, ending } = options;
  /** The table's rows, by handoff: most changes of a story concern one of them. */
  const written = new Map<number, string>();
  let note = startingNote(options);

  const keep = (next: StatusNote): void => {
    note = next;
    writeMirrorNote(home, note);
  };

  async function insist(id: string, write: () => Promise<TableAnswer>): Promise<boolean> {
    for (let waitMs = FIRST_RETRY_MS; !ending.aborted; waitMs = Math.min(waitMs * 2, LONGEST_RETRY_MS)) {
      const answer = await write();
      if (answer.type === "written") {
        note = { ...note, behind: null, writtenAt: now() };
        return true;
      }
      if (ending.aborted) return false;
      const reason = answer.reason.slice(0, 500);
      if (answer.type === "refused") {
        onProblem(`status mirror: ${table.shown} refuses the row of ${id}: ${reason}`);
        const refused = [...note.refused, { id: id.slice(0, 500), reason, at: now() }].slice(-KEPT_REFUSALS);
        keep({ ...note, behind: null, refused });
        return true;
      }
      if (note.behind === null) onProblem(`status mirror: ${table.shown} cannot be written: ${reason}`);
      keep({ ...note, behind: { since: note.behind?.since ?? now(), reason } });
      await waitFor(waitMs, ending);
    }
    return false;
  }

  return {
    note: () => note,
    reached: (seq) => keep({ ...note, seq }),
    async write(row, handoffs) {
      if (row === null) return true;
      if (!(await insist(row.id, () => table.writeFeature(row, ending)))) return false;
      for (const handoff of await handoffs()) {
        const text = JSON.stringify(handoff);
        if (written.get(handoff.id) === text) continue;
        if (!(await insist(`${row.id}, handoff ${handoff.id}`, () => table.writeHandoff(handoff, ending))))
          return false;
        if (written.size > KEPT_HANDOFFS) written.clear();
        written.set(handoff.id, text);
      }
      return true;
    },
  };
}

function startingNote({ home, table, incarnation }: RowWriterOptions): StatusNote {
  const found = readMirrorNote(home);
  // Another store or another target: the rows there say nothing about this one's.
  if (found !== null && found.incarnation === incarnation && found.to === table.shown) return found;
  return { incarnation, to: table.shown, seq: null, writtenAt: null, behind: null, refused: [] };
}

/** Resolves after this time, or when the signal aborts. */
export function waitFor(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(end, ms);
    signal.addEventListener("abort", end, { once: true });
    function end(): void {
      clearTimeout(timer);
      signal.removeEventListener("abort", end);
      resolve();
    }
  });
}
