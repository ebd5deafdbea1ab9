// Announces loose ends of the inbox that no run announces: a merge that waits, a blocked ticket, a broken file, files
// that wait for trust. Each is announced once for as long as it waits. A file records beforehand which will be
// announced, so that a notice that a crash repeats has the same id.

import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { LooseEnds } from "../app/loose-ends.ts";
import type { LooseEnd } from "../core/view/loose-end.ts";
import { replacePrivate } from "../file/private-file.ts";
import type { Notice, Notifier } from "../notify/notify.ts";
import { createPoll } from "../ticket/poll.ts";

export type AnnounceOptions = {
  readonly home: string;
  readonly looseEnds: LooseEnds;
  readonly notifier: Notifier;
  readonly onProblem: (error: unknown) => void;
  readonly pauseMs?: number;
  /** The store has no runs yet: every waiting item is news. */
  readonly isFirstStart?: boolean;
};

export type Announcer = { close(): Promise<void> };

const PAUSE_MS = 10_000;
const MAX_BYTES = 4 * 1024 * 1024;
/** The person whom flows notify by default. */
const OWNER = "owner";
/** More at once go into one notice: a person does not read a hundred. */
const AT_ONCE = 20;

export function openAnnouncer(options: AnnounceOptions): Announcer {
  const { home, isFirstStart = false, pauseMs = PAUSE_MS, onProblem } = options;
  if (isFirstStart && readKnown(fileOf(home)) === undefined) write(home, []);
  const poll = createPoll({ task: () => announce(options), pauseMs: () => pauseMs, onError: onProblem });
  poll.start(0);
  return { close: () => poll.stop() };
}

/** One look. The first one of a state folder that has runs already only remembers: older items are no news. */
export async function announce({ home, looseEnds, notifier }: AnnounceOptions): Promise<void> {
  const known = readKnown(fileOf(home));
  const now = await looseEnds();
  if (known === undefined && now.unseen > 0) return;
  const ends = now.ends.filter(({ isTold }) => !isTold);
  const seen = ends.map(({ id }) => known?.get(id) ?? { id, key: randomUUID(), isTold: known === undefined });
  // Among many runs not all were read yet: an item announced before may still wait.
  const ids = new Set(ends.map(({ id }) => id));
  const unseen = now.unseen === 0 ? [] : [...(known?.values() ?? [])].filter(({ id }) => !ids.has(id));
  const entries = [...seen, ...unseen];
  const isSame = known?.size === entries.length && entries.every(({ id }) => known.has(id));
  if (!isSame) write(home, entries);
  const fresh = ends.flatMap((end, index) => {
    const entry = seen[index];
    return entry === undefined || entry.isTold ? [] : [{ end, key: entry.key }];
  });
  if (fresh.length === 0) return;
  const notices = fresh.length > AT_ONCE ? [manyNotice(fresh)] : fresh.map(noticeOf);
  for (const notice of notices) await notifier.notify(notice);
  write(
    home,
    entries.map((entry) => ({ ...entry, isTold: true })),
  );
}

/** `key`: of this time that it waits; the same thing that waits again later has another. */
type Fresh = { readonly end: LooseEnd; readonly key: string };

function noticeOf({ end, key }: Fresh): Notice {
  const { kind, title, text, since, run, ticket, verbs } = end;
  const about = ticket === null || title.includes(ticket) || text.startsWith(ticket) ? title : `${ticket}: ${title}`;
  const head = `${about}: ${text}${since === null ? "" : ` (since ${since})`}`;
  const ways = verbs.map(({ verb, command }) => `${verb}: ${command}`);
  return { runId: run?.id ?? "", to: OWNER, event: kind, text: [head, ...ways].join("\n"), item: null, key };
}

function manyNotice(fresh: readonly Fresh[]): Notice {
  const kinds = [...Map.groupBy(fresh, ({ end }) => end.kind)].map(([kind, { length }]) => `${length} ${kind}`);
  const text = `${fresh.length} things wait for you (${kinds.join(", ")}): passrail inbox`;
  return { runId: "", to: OWNER, event: fresh[0]?.end.kind ?? "file", text, item: null, key: fresh[0]?.key ?? "" };
}

type Entry = { readonly id: string; readonly key: string; readonly isTold: boolean };

/** An earlier version wrote ids only. */
const entrySchema = z.union([
  z.object({ id: z.string(), key: z.string(), isTold: z.boolean() }),
  z.string().transform((id) => ({ id, key: "", isTold: true })),
]);

/** Undefined before the first look. A file that cannot be read is treated the same: better no notice than hundreds of old ones. */
function readKnown(file: string): ReadonlyMap<string, Entry> | undefined {
  try {
    const text = readFileSync(file, "utf8");
    const read = z.array(entrySchema).safeParse(text.length > MAX_BYTES ? undefined : JSON.parse(text));
    return read.success ? new Map(read.data.map((entry) => [entry.id, entry])) : undefined;
  } catch {
    return undefined;
  }
}

function write(home: string, entries: readonly Entry[]): void {
  replacePrivate(fileOf(home), `${JSON.stringify(entries)}\n`);
}

function fileOf(home: string): string {
  return join(home, "announced.json");
}
