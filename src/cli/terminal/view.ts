// Follows the store: reads new events and prints them as lines, as a live tree or as JSON. It does not use the engine, so the output is
// the same whichever process performs the run.

import type { RunEvent } from "../../core/run/event.ts";
import { MAIN_TRACK } from "../../core/flow/flow.ts";
import { openItems } from "../../core/run/run.ts";
import type { Store, StoredEvent } from "../../store/store.ts";
import type { Io } from "./io.ts";
import { createLive, type Live } from "./live.ts";
import { plainText } from "./plain-text.ts";
import { progressLines, waitingLines } from "./progress.ts";
import { flowOf } from "../../store/flow-of.ts";
import { treeLines } from "./run-tree.ts";

export type View = {
  /** Prints everything stored since the last call. True if there was something. */
  readonly update: (store: Store) => Promise<boolean>;
  readonly close: (store: Store) => Promise<void>;
};

export type ViewOptions = {
  /** The run that is printed in full; others only while this command also performs them. */
  readonly runId: string;
  /** Events up to this number are known already. */
  readonly after: number;
  /** With --json the events are printed as they come, one per line. */
  readonly stream: boolean;
  readonly lines: "out" | "err";
  readonly terminal?: NodeJS.WriteStream;
};

const PAGE = 500;

export function createView(io: Io, { runId, after, stream, lines, terminal }: ViewOptions): View {
  const startedAt = new Map<string, number>();
  const numbers = new Map<string, number>();
  const live: Live | undefined = isLive(io, terminal) ? createLive(terminal) : undefined;
  let seen = after;
  let isDrawn = false;

  async function update(store: Store): Promise<boolean> {
    const before = seen;
    for (;;) {
      const page = await store.events({ after: seen, limit: PAGE });
      for (const group of byRun(page)) await tell(store, group);
      seen = page.at(-1)?.seq ?? seen;
      if (page.length < PAGE) break;
    }
    if (live !== undefined) await draw(store, live);
    return seen > before;
  }

  async function tell(store: Store, group: readonly StoredEvent[]): Promise<void> {
    const id = group[0]?.runId ?? "";
    if (io.quiet) return;
    if (io.json) {
      if (stream && id === runId)
        for (const { seq, version, event } of group) io.out(JSON.stringify({ seq, run: id, version, ...event }));
      return;
    }
    const stored = await store.loadRun(id);
    if (stored === undefined) return;
    const { flow } = await flowOf(store, stored.run);
    const number = await numberOf(store, id);
    const isOwn = id === runId;
    const events = group.map(({ event }) => event).filter((event) => live === undefined || !isOwn || isBeside(event));
    for (const line of progressLines({ flow, run: stored.run, number, startedAt }, events)) {
      const text = plainText(isOwn ? line : `#${number} ${line}`);
      if (live !== undefined) live.above(text);
      else io[lines](text);
    }
  }

  async function draw(store: Store, block: Live): Promise<void> {
    const stored = await store.loadRun(runId);
    if (stored === undefined) return;
    isDrawn = true;
    const { flow } = await flowOf(store, stored.run);
    block.draw(treeLines(io, flow, stored.run, await store.attempts(runId)));
  }

  async function numberOf(store: Store, id: string): Promise<number> {
    const known = numbers.get(id) ?? (await store.findRuns(id)).find((run) => run.id === id)?.number ?? 0;
    numbers.set(id, known);
    return known;
  }

  return {
    update,
    async close(store) {
      await update(store);
      if (live === undefined) return;
      live.done();
      // The tree shows that it waits; the commands to answer are below it.
      const stored = isDrawn ? await store.loadRun(runId) : undefined;
      const number = await numberOf(store, runId);
      for (const item of stored === undefined ? [] : openItems(stored.run)) {
        for (const line of waitingLines(item, number, stored?.run)) io.err(plainText(line));
      }
    },
  };
}

function isLive(io: Io, terminal: NodeJS.WriteStream | undefined): terminal is NodeJS.WriteStream {
  if (terminal === undefined || !io.tty || io.plain || io.json || io.quiet) return false;
  return terminal.isTTY && terminal.columns > 0 && terminal.rows > 0;
}

/** Events that the tree cannot show. */
function isBeside(event: RunEvent): boolean {
  return (
    event.type === "warning.raised" ||
    event.type === "run.stopped" ||
    event.type === "run.canceled" ||
    event.type === "stage.interrupted" ||
    event.type === "stage.postponed" ||
    event.type === "stage.held" ||
    event.type === "stage.moved" ||
    event.type === "stage.released" ||
    event.type === "budget.warned" ||
    event.type === "run.completed" ||
    (event.type === "stage.expanded" && event.track === MAIN_TRACK)
  );
}

function byRun(events: readonly StoredEvent[]): readonly (readonly StoredEvent[])[] {
  const groups: StoredEvent[][] = [];
  for (const event of events) {
    const last = groups.at(-1);
    if (last?.[0]?.runId === event.runId) last.push(event);
    else groups.push([event]);
  }
  return groups;
}
