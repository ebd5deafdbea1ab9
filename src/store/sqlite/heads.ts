// Remembers where runs and the sequence of events end, so that a commit need not look them up. Its memory is valid
// inside one transaction; the version in the update of a run's row notices a head that another process has moved.

import type { DatabaseSync } from "node:sqlite";
import { LAST_SEQ } from "./schema-commits.ts";
import { LAST_HANDOFF } from "./schema-parts.ts";

export type RunHead = {
  readonly number: number;
  readonly version: number;
  readonly head: string;
  readonly status: string;
};
export type Heads = ReturnType<typeof createHeads>;

const HEADS_AT_MOST = 10_000;

export function createHeads(db: DatabaseSync) {
  const findRun = db.prepare("SELECT number, version, head, status FROM runs WHERE id = ?");
  const findLastSeq = db.prepare(`SELECT ${LAST_SEQ} AS seq`);
  /** Of runs that were written here lately. A version never changes, so the head of a version does not either. */
  const heads = new Map<string, RunHead>();
  const findLastHandoff = db.prepare(`SELECT ${LAST_HANDOFF} AS id`);
  let lastSeq: number | undefined;
  let lastHandoff: number | undefined;

  function stored(runId: string): RunHead | undefined {
    return findRun.get(runId) as RunHead | undefined;
  }

  return {
    /** The run's head: the remembered one if it has the expected version, else what the file says. */
    of(runId: string, expectedVersion: number): RunHead | undefined {
      const known = heads.get(runId);
      return known?.version === expectedVersion ? known : stored(runId);
    },
    numberOf: (runId: string): number | undefined => (heads.get(runId) ?? stored(runId))?.number,
    lastSeq: (): number => (lastSeq ??= (findLastSeq.get() as { seq: number } | undefined)?.seq ?? 0),
    lastHandoff: (): number => (lastHandoff ??= Number(findLastHandoff.get()?.["id"])),
    moved(runId: string, head: RunHead, last: { readonly seq: number; readonly lastHandoff: number }): void {
      ({ seq: lastSeq, lastHandoff } = last);
      if (heads.size >= HEADS_AT_MOST) heads.clear();
      heads.set(runId, head);
    },
    forget: (runId: string): void => void heads.delete(runId),
    /** At the start of each transaction: another process may have written since the last one. */
    begun: (): void => {
      lastSeq = undefined;
      lastHandoff = undefined;
    },
    /** After a rollback nothing that the transaction noted is true. */
    rolledBack: (): void => {
      lastSeq = undefined;
      lastHandoff = undefined;
      heads.clear();
    },
  };
}
