// Tells people about loose ends of the inbox that no run tells them about: a merge that waits, a blocked ticket, a broken file, files that
// wait for trust. Each is told once for as long as it waits; the file remembers which were, over restarts.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { LooseEnds } from "../app/loose-ends.ts";
import type { LooseEnd } from "../core/view/loose-end.ts";
import { replacePrivate } from "../file/private-file.ts";
import type { Notifier } from "../notify/notify.ts";
import { createPoll } from "../ticket/poll.ts";

export type AnnounceOptions = {
  readonly home: string;
  readonly looseEnds: LooseEnds;
  readonly notifier: Notifier;
  readonly onProblem: (error: unknown) => void;
  readonly pauseMs?: number;
};

export type Announcer = { close(): Promise<void> };

const PAUSE_MS = 10_000;
const MAX_BYTES = 4 * 1024 * 1024;
/** The person whom flows notify by default. */
const OWNER = "owner";

export function openAnnouncer(options: AnnounceOptions): Announcer {
  const { pauseMs = PAUSE_MS, onProblem } = options;
  const poll = createPoll({ task: () => announce(options), pauseMs: () => pauseMs, onError: onProblem });
  poll.start(0);
  return { close: () => poll.stop() };
}

/** One look. The first one of a state folder only remembers: what waited before is no news. */
export async function announce({ home, looseEnds, notifier }: AnnounceOptions): Promise<void> {
  const file = join(home, "announced.json");
  const known = readKnown(file);
  const ends = (await looseEnds()).ends.filter(({ isTold }) => !isTold);
  const fresh = known === undefined ? [] : ends.filter(({ id }) => !known.has(id));
  for (const end of fresh) await notifier.notify(noticeOf(end));
  // Written after the notices: a crash between repeats one rather than losing it.
  if (known === undefined || fresh.length > 0 || known.size !== ends.length)
    replacePrivate(file, `${JSON.stringify(ends.map(({ id }) => id))}\n`);
}

/** With its time: the same thing that waits again later is a new notice. */
function noticeOf({ kind, title, text, since, run, verbs }: LooseEnd) {
  const head = `${title}: ${text}${since === null ? "" : ` (since ${since})`}`;
  const ways = verbs.map(({ verb, command }) => `${verb}: ${command}`);
  return { runId: run?.id ?? "", to: OWNER, event: kind, text: [head, ...ways].join("\n"), item: null };
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
