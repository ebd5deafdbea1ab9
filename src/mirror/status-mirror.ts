// Copies the status of every feature to a database elsewhere, in the order in which it changed and at least once. It follows the store's
// events behind the engine: a database that is slow, down or refuses a row never delays a run. One process performs, so one writes.

import { messageOf } from "../core/result.ts";
import type { Store } from "../store/store.ts";
import { changesIn, createRowSource, type RowStore } from "./mirrored-rows.ts";
import { createRowWriter, waitFor } from "./row-writer.ts";
import type { FeatureRow, StatusTable } from "./status-table.ts";

export type StatusMirror = {
  /** Something was stored. */
  wake(): void;
  /** Writes what is stored already, if the database takes it within a few seconds. */
  close(): Promise<void>;
};

export type StatusMirrorOptions = {
  readonly home: string;
  readonly store: RowStore & Pick<Store, "incarnation" | "lastSeq" | "listSubjects">;
  readonly table: StatusTable;
  readonly hasHandoffs: boolean;
  readonly now: () => string;
  readonly onProblem: (text: string) => void;
};

const PAGE = 500;
const SUBJECTS = 200;
/** Changes of other processes are noticed at this pace. */
const LOOK_MS = 5000;
const GRACE_MS = 3000;
const AFTER_ERROR_MS = 60_000;

export function openStatusMirror(options: StatusMirrorOptions): StatusMirror {
  const { store, table, hasHandoffs, onProblem } = options;
  const ending = new AbortController();
  const rows = createRowSource(store);
  const writer = createRowWriter({ ...options, incarnation: store.incarnation(), ending: ending.signal });
  let pause = new AbortController();
  let isClosing = false;
  const done = follow();
  return {
    wake: () => pause.abort(),
    async close() {
      isClosing = true;
      pause.abort();
      const grace = setTimeout(() => ending.abort(), writer.note().behind === null ? GRACE_MS : 0);
      await done;
      clearTimeout(grace);
      table.close();
    },
  };

  async function follow(): Promise<void> {
    while (!ending.signal.aborted) {
      pause = new AbortController();
      const { seq } = writer.note();
      try {
        await (seq === null ? copyAll() : writeNext(seq));
      } catch (error) {
        onProblem(`status mirror: ${messageOf(error)}`);
        if (isClosing) return;
        await waitFor(AFTER_ERROR_MS, AbortSignal.any([pause.signal, ending.signal]));
      }
    }
  }

  /** The first time, only the present state of each feature is written; changes that come meanwhile follow. */
  async function copyAll(): Promise<void> {
    const seq = await store.lastSeq();
    for (let before = Number.MAX_SAFE_INTEGER; ; ) {
      const subjects = await store.listSubjects({ before, limit: SUBJECTS });
      for (const { newest } of subjects) if (!(await write(await rows.upTo(newest.id, seq)))) return;
      if (subjects.length < SUBJECTS) break;
      before = subjects.at(-1)?.newest.number ?? 0;
    }
    writer.reached(seq);
  }

  async function writeNext(after: number): Promise<void> {
    const page = await store.events({ after, limit: PAGE });
    const isLast = page.length < PAGE;
    const changes = changesIn(page);
    // The last change of a full page may continue on the next one.
    for (const change of isLast || changes.length === 1 ? changes : changes.slice(0, -1)) {
      if (!(await write(await rows.afterChange(change)))) return;
      writer.reached(change.events.at(-1)?.seq ?? after);
    }
    if (!isLast) return;
    if (isClosing) ending.abort();
    else await waitFor(LOOK_MS, AbortSignal.any([pause.signal, ending.signal]));
  }

  function write(row: FeatureRow | null): Promise<boolean> {
    return writer.write(row, async () => (hasHandoffs && row !== null ? rows.handoffs(row.id) : []));
  }
}
