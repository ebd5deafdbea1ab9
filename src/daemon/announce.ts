// Tells people about loose ends of the inbox that no run tells them about: a merge that waits, a blocked ticket, a broken file, files that
// wait for trust. Each is told once for as long as it waits; the file remembers which were, over restarts.

import { readFileSync } from "node:fs";
import { join } from "node:path";
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
  /** The store has no runs yet: whatever waits is news. */
  readonly isFirstStart?: boolean;
};

export type Announcer = { close(): Promise<void> };

const PAUSE_MS = 10_000;
const MAX_BYTES = 4 * 1024 * 1024;
/** The person whom flows notify by default. */
const OWNER = "owner";
/** More at once are told in one notice: nobody reads a hundred. */
const AT_ONCE = 20;

export function openAnnouncer(options: AnnounceOptions): Announcer {
  const { home, isFirstStart = false, pauseMs = PAUSE_MS, onProblem } = options;
  if (isFirstStart && readKnown(fileOf(home)) === undefined) replacePrivate(fileOf(home), "[]\n");
  const poll = createPoll({ task: () => announce(options), pauseMs: () => pauseMs, onError: onProblem });
  poll.start(0);
  return { close: () => poll.stop() };
}

/** One look. The first one of a state folder that has runs already only remembers: what waited before is no news. */
export async function announce({ home, looseEnds, notifier }: AnnounceOptions): Promise<void> {
  const file = fileOf(home);
  const known = readKnown(file);
  const ends = (await looseEnds()).ends.filter(({ isTold }) => !isTold);
  const fresh = known === undefined ? [] : ends.filter(({ id }) => !known.has(id));
  const notices = fresh.length > AT_ONCE ? [manyNotice(fresh)] : fresh.map(noticeOf);
  for (const notice of notices) await notifier.notify(notice);
  // Written after the notices: a crash between repeats one rather than losing it.
  if (known === undefined || fresh.length > 0 || known.size !== ends.length)
    replacePrivate(file, `${JSON.stringify(ends.map(({ id }) => id))}\n`);
}

/** With its time: the same thing that waits again later is a new notice. */
function noticeOf({ id, kind, title, text, since, run, ticket, verbs }: LooseEnd): Notice {
  const about = ticket === null || title.includes(ticket) || text.startsWith(ticket) ? title : `${ticket}: ${title}`;
  const head = `${about}: ${text}${since === null ? "" : ` (since ${since})`}`;
  const ways = verbs.map(({ verb, command }) => `${verb}: ${command}`);
  const key = `${id} ${since ?? ""}`;
  return { runId: run?.id ?? "", to: OWNER, event: kind, text: [head, ...ways].join("\n"), item: null, key };
}

function manyNotice(ends: readonly LooseEnd[]): Notice {
  const kinds = [...Map.groupBy(ends, ({ kind }) => kind)].map(([kind, { length }]) => `${length} ${kind}`);
  const [{ kind: event } = { kind: "file" }] = ends;
  const text = `${ends.length} things wait for you (${kinds.join(", ")}): passrail inbox`;
  return { runId: "", to: OWNER, event, text, item: null };
}

function fileOf(home: string): string {
  return join(home, "announced.json");
}

/** Undefined before the first look. A file that cannot be read is treated the same: better no notice than hundreds of old ones. */
function readKnown(file: string): ReadonlySet<string> | undefined {
  try {
    const text = readFileSync(file, "utf8");
    const parsed: unknown = text.length > MAX_BYTES ? undefined : JSON.parse(text);
    return Array.isArray(parsed) ? new Set(parsed.filter((id) => typeof id === "string")) : undefined;
  } catch {
    return undefined;
  }
}
