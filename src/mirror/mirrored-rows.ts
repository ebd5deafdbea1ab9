// The rows that show a run after each of its changes. The store's events are the queue: rows are derived from them when they are written,
// so a database that is away for a week costs no memory and loses no change.

import type { RunEvent } from "../core/run/event.ts";
import { evolve } from "../core/run/evolve.ts";
import type { Run } from "../core/run/run.ts";
import { isStoryFlow } from "../core/run/told.ts";
import { featureRecord } from "../core/view/feature.ts";
import { acceptedWith, type HandoffRowView, showHandoff } from "../core/view/handoff-row.ts";
import { flowOf } from "../store/flow-of.ts";
import type { Store, StoredEvent } from "../store/store.ts";
import type { FeatureRow } from "./status-table.ts";

export type RowStore = Pick<Store, "attempts" | "events" | "handoffRows" | "loadFlow">;

/** The events of one run that one decision made. */
export type MirroredChange = { readonly runId: string; readonly events: readonly StoredEvent[] };

/** Events of one decision follow each other and have the same time. */
export function changesIn(page: readonly StoredEvent[]): readonly MirroredChange[] {
  const changes: { runId: string; events: StoredEvent[] }[] = [];
  for (const stored of page) {
    const last = changes.at(-1);
    if (last?.runId === stored.runId && last.events[0]?.event.at === stored.event.at) last.events.push(stored);
    else changes.push({ runId: stored.runId, events: [stored] });
  }
  return changes;
}

const PAGE = 1000;
/** Runs whose events are kept in memory, so that a change needs no second reading of the run. */
const KEPT_RUNS = 50;

export type RowSource = {
  /** The feature of a run after a change. Null for a run that was deleted meanwhile. */
  afterChange(change: MirroredChange): Promise<FeatureRow | null>;
  /** The feature of a run after all of its events up to this number. */
  upTo(runId: string, seq: number): Promise<FeatureRow | null>;
  /** The handoffs of a feature as they are now, without those of flows that have none to show. */
  handoffs(subjectId: string): Promise<readonly HandoffRowView[]>;
};

export function createRowSource(store: RowStore): RowSource {
  const known = new Map<string, { readonly seq: number; readonly events: readonly RunEvent[] }>();
  return {
    async afterChange({ runId, events: added }) {
      const before = known.get(runId);
      const seq = added.at(-1)?.seq ?? 0;
      // A change that is tried again is in there already.
      const isNext = before !== undefined && before.seq < (added[0]?.seq ?? 0);
      const events = isNext
        ? [...before.events, ...added.map(({ event }) => event)]
        : await eventsUpTo(store, runId, seq);
      known.delete(runId);
      known.set(runId, { seq, events });
      const [oldest] = known.keys();
      if (known.size > KEPT_RUNS && oldest !== undefined) known.delete(oldest);
      return featureRow(store, events);
    },
    upTo: async (runId, seq) => featureRow(store, await eventsUpTo(store, runId, seq)),
    handoffs: (subjectId) => handoffRowsOf(store, subjectId),
  };
}

async function eventsUpTo(store: RowStore, runId: string, seq: number): Promise<readonly RunEvent[]> {
  const found: RunEvent[] = [];
  for (let after = 0; ; ) {
    const page = await store.events({ runId, after, limit: PAGE });
    for (const stored of page) if (stored.seq <= seq) found.push(stored.event);
    const last = page.at(-1)?.seq ?? seq;
    if (page.length < PAGE || last >= seq) return found;
    after = last;
  }
}

async function featureRow(store: RowStore, events: readonly RunEvent[]): Promise<FeatureRow | null> {
  let run: Run | undefined;
  for (const event of events) run = evolve(run, event);
  const last = events.at(-1);
  if (run === undefined || last === undefined) return null;
  const { flow } = await flowOf(store, run);
  const { id, title } = run.subject;
  return { id, title, ...featureRecord(flow, events, run), updated_at: last.at };
}

async function handoffRowsOf(store: RowStore, subjectId: string): Promise<readonly HandoffRowView[]> {
  const shown: HandoffRowView[] = [];
  for (const row of await store.handoffRows({ subjectId })) {
    if (!isStoryFlow((await flowOf(store, row)).flow)) continue;
    const added = row.state === "pending" ? undefined : acceptedWith(await store.attempts(row.runId));
    shown.push(showHandoff(row, added));
  }
  return shown;
}
