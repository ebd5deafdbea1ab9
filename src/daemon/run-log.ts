// Writes the progress of every run into the daemon's log, whichever process stored it. Follows the store's events by their number and
// notes how far it got, so that a restart neither skips nor repeats the lines of work done meanwhile.

import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { projectOf } from "../core/run/run-settings.ts";
import { messageOf } from "../core/result.ts";
import type { InboxItem, Run } from "../core/run/run.ts";
import { progressLines, type ProgressWording } from "../core/view/progress-lines.ts";
import { hookEvent } from "../engine/hook-events.ts";
import type { EngineListener } from "../engine/listeners.ts";
import { flowOf } from "../store/flow-of.ts";
import type { Store, StoredEvent } from "../store/store.ts";
import { type Log, oneLine } from "./log.ts";

export type RunLog = EngineListener & { close(): Promise<void> };

export type RunLogOptions = {
  readonly home: string;
  readonly store: Pick<Store, "events" | "findRuns" | "lastSeq" | "loadFlow" | "loadRun">;
  readonly log: Log;
  /** Removes secrets. */
  readonly redact: (text: string) => string;
};

const PAGE = 500;
const MOST_NUMBERS = 10_000;

const WORDING: ProgressWording = {
  oneLine: (text, width) => oneLine(text).slice(0, width),
  timeOf: (at) => at,
  waitingLines: (item: InboxItem, number: number) => [
    `⏸ ${item.kind} ${item.stage} waits for ${item.who} (${number}.${item.number}): passrail inbox`,
  ],
};

export function openRunLog({ home, store, log, redact }: RunLogOptions): RunLog {
  const file = join(home, "logs", "daemon.seq");
  const startedAt = new Map<string, number>();
  const numbers = new Map<string, number>();
  let seen = readSeq(file);
  let turn: Promise<void> = Promise.resolve();
  let isAsked = false;

  const catchUp = (): void => {
    if (isAsked) return;
    isAsked = true;
    turn = turn.then(write).catch((error: unknown) => log.write(`log: ${messageOf(error)}`));
  };
  catchUp();
  return {
    onChange: catchUp,
    onElsewhere: catchUp,
    onAgentEvent(attempt, event) {
      const found = hookEvent(attempt, event, "");
      if (found === undefined) return;
      turn = turn.then(async () => {
        const number = await numberOf(attempt.run.id);
        log.write(redact(`#${number} ${folderName(attempt.run)}: ${attempt.agent}: ${found.line}`));
      });
    },
    async close() {
      catchUp();
      await turn;
    },
  };

  async function write(): Promise<void> {
    isAsked = false;
    // The first daemon of a state folder does not repeat what happened before it; a restored store may end before the noted number.
    const last = await store.lastSeq();
    const before = seen === undefined || seen > last ? last : seen;
    let after = before;
    for (;;) {
      const page = await store.events({ after, limit: PAGE });
      for (const group of byRun(page)) await tell(group);
      after = page.at(-1)?.seq ?? after;
      if (page.length < PAGE) break;
    }
    if (after !== before) noteSeq(file, after);
    seen = after;
  }

  async function numberOf(id: string): Promise<number> {
    const known = numbers.get(id) ?? (await store.findRuns(id)).find((each) => each.id === id)?.number ?? 0;
    if (numbers.size > MOST_NUMBERS) numbers.clear();
    numbers.set(id, known);
    return known;
  }

  async function tell(group: readonly StoredEvent[]): Promise<void> {
    const id = group[0]?.runId ?? "";
    const stored = await store.loadRun(id);
    if (stored === undefined) return;
    const { run } = stored;
    const { flow } = await flowOf(store, run);
    const number = await numberOf(id);
    const events = group.map(({ event }) => event);
    for (const line of progressLines({ flow, run, number, startedAt, wording: WORDING }, events))
      log.write(redact(`#${number} ${folderName(run)}: ${line}`));
  }
}

function folderName(run: Run): string {
  return basename(projectOf(run)) || "-";
}

/** Without a sync: after a crash of the machine a few lines may be repeated, and that is all it is worth. */
function noteSeq(file: string, seq: number): void {
  writeFileSync(`${file}.new`, `${seq}\n`, { mode: 0o600 });
  renameSync(`${file}.new`, file);
}

function readSeq(file: string): number | undefined {
  try {
    const text = readFileSync(file, "utf8").trim();
    return /^[0-9]{1,15}$/u.test(text) ? Number(text) : undefined;
  } catch {
    return undefined;
  }
}

/** Neighbouring events of one run are handled together: a line may need later events of the same decision. */
function byRun(page: readonly StoredEvent[]): readonly (readonly StoredEvent[])[] {
  const groups: StoredEvent[][] = [];
  for (const event of page) {
    const last = groups.at(-1);
    if (last !== undefined && last[0]?.runId === event.runId) last.push(event);
    else groups.push([event]);
  }
  return groups;
}
