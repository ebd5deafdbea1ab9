// The work of this moment and the next work, for one page: a row per live attempt with its last line, the queue with
// the reason why each run waits, and the cost of today. The inbox has what needs a person.

import { attemptFiles } from "../attempt/attempt-files.ts";
import { attemptFacts } from "../core/attempt-facts.ts";
import type { Usage } from "../core/budget/usage.ts";
import type { PausedAll } from "../core/run/pause-all.ts";
import { lastEventLine, lastOutputLine, type AgentLine } from "../core/view/live-line.ts";
import { openPlain } from "../file/plain-file.ts";
import type { Store } from "../store/store.ts";
import { lookAtPause } from "./look-at-pause.ts";
import { listQueue, type QueueEntry, type QueueLimits } from "./list-queue.ts";

export type NowPlace = {
  readonly store: Store;
  /** The state folder. */
  readonly home: string;
  readonly limits: QueueLimits;
  /** ISO 8601, UTC. */
  readonly now: string;
  /** Removes the secrets that this process knows. */
  readonly redact: (text: string) => string;
  /** Called for each attempt that works, before its line is read, so that its next line is not missed. */
  readonly follow?: (attempt: Pick<QueueEntry, "runId" | "stage" | "attempt">) => void;
};

export type WorkingRow = Pick<
  QueueEntry,
  "runId" | "number" | "flow" | "title" | "stage" | "attempt" | "agent" | "since"
> & {
  readonly project: string;
  /** Null until its program has started, and for Passrail's own stages. */
  readonly runner: string | null;
  readonly model: string | null;
  /** The worker that carries it out; null: this machine. */
  readonly worker: string | null;
  /** Null before its first line. */
  readonly lastLine: AgentLine | null;
  /** As far as it is known while it works. */
  readonly usage: Usage | null;
};

export type NextRow = QueueEntry & { readonly project: string };

export type Today = {
  /** Since the midnight of UTC, as budgets count it. */
  readonly since: string;
  readonly usd: number;
  /** Attempts whose cost is not known. */
  readonly unknownUsd: number;
  readonly tokens: number;
};

export type NowView = {
  readonly working: readonly WorkingRow[];
  readonly next: readonly NextRow[];
  readonly today: Today;
  /** The pause of everything; null without one. */
  readonly paused: PausedAll | null;
  /** Nothing has ever run here. */
  readonly isNew: boolean;
};

export async function lookAtNow(place: NowPlace): Promise<NowView> {
  const { store, now, limits } = place;
  const [queue, today, paused, newest] = await Promise.all([
    listQueue(store, now, limits),
    spentToday(store, now),
    lookAtPause(store),
    store.listRuns({ limit: 1 }),
  ]);
  const entries = queue.flatMap(({ project, entries: list }) => list.map((entry) => ({ ...entry, project })));
  const live = entries.filter(({ state }) => state === "running");
  return {
    working: await Promise.all(live.map((entry) => workingRow(place, entry))),
    next: entries.filter(({ state }) => state !== "running"),
    today,
    paused,
    isNew: newest.length === 0,
  };
}

async function workingRow(place: NowPlace, entry: NextRow): Promise<WorkingRow> {
  const { runId, number, flow, title, stage, attempt, agent, since, project } = entry;
  place.follow?.(entry);
  const record = (await place.store.attempts(runId)).find((each) => each.stage === stage && each.attempt === attempt);
  const { runner, model, claim, usage } = attemptFacts({ facts: record?.facts ?? {} });
  return {
    runId,
    number,
    flow,
    title,
    stage,
    attempt,
    agent,
    since,
    project,
    runner,
    model,
    worker: claim?.worker ?? null,
    usage,
    lastLine: await readLastLine(place, entry),
  };
}

/** An agent that prints a long line without an end is not read to its beginning. */
const TAIL_BYTES = 32 * 1024;

/** The last words or act of a working agent; null before its first line. */
export async function readLastLine(
  { home, redact }: Pick<NowPlace, "home" | "redact">,
  { runId, stage, attempt }: Pick<QueueEntry, "runId" | "stage" | "attempt">,
): Promise<AgentLine | null> {
  const files = attemptFiles(home, runId, stage, attempt);
  const said = lastEventLine(await tailOf(files.dir, files.events));
  const line = said ?? lastOutputLine(await tailOf(files.dir, files.output));
  return line === null ? null : { ...line, text: redact(line.text) };
}

/** Empty if there is no such file. */
async function tailOf(folder: string, path: string): Promise<string> {
  const opened = await openPlain(folder, path);
  if (opened === undefined) return "";
  try {
    const from = Math.max(0, opened.size - TAIL_BYTES);
    const { buffer, bytesRead } = await opened.handle.read({
      buffer: Buffer.alloc(Math.min(opened.size, TAIL_BYTES)),
      position: from,
    });
    return buffer.subarray(0, bytesRead).toString("utf8");
  } finally {
    await opened.handle.close();
  }
}

async function spentToday(store: Store, now: string): Promise<Today> {
  const since = `${now.slice(0, 10)}T00:00:00.000Z`;
  const rows = await store.spending({ by: "day", since });
  const sum = (of: (row: (typeof rows)[number]) => number): number => rows.reduce((total, row) => total + of(row), 0);
  return {
    since,
    usd: Math.round(sum(({ usd }) => usd) * 1e6) / 1e6,
    unknownUsd: sum(({ unknownUsd }) => unknownUsd),
    tokens: sum(({ inputTokens, outputTokens }) => inputTokens + outputTokens),
  };
}
