// The ids of deliveries in a file of the state folder, one line each, so that they survive a restart. When most of them are forgotten, the
// file is rewritten.

import { openJournal } from "../../file/journal.ts";
import { DEFAULT_CAPACITY, KEEP_MS, type ReplayOptions, type Replays, replaysOver } from "./replay.ts";

const LINE = /^([0-9]{1,16}) ([A-Za-z0-9_-]{43})$/;
const LINE_BYTES = 61;

/** Throws if the file is not ours or cannot be read: without it a replay would count again. */
export function openFileReplays(path: string, options: ReplayOptions): Replays {
  const { now, capacity = DEFAULT_CAPACITY } = options;
  const maxLines = capacity * 2 + 100;
  const journal = openJournal(path, maxLines * LINE_BYTES * 4);
  const seen = new Map<string, number>();
  for (const line of journal.lines) {
    const [, at, digest] = LINE.exec(line) ?? [];
    if (digest !== undefined && now() - Number(at) <= KEEP_MS) {
      // Inserted again, so that the map is in the order of time.
      seen.delete(digest);
      seen.set(digest, Number(at));
    }
  }
  let lines = journal.lines.length;

  return replaysOver(options, {
    seen,
    write(digests, atMs) {
      if (lines + digests.length > maxLines) {
        journal.rewrite([...seen].map(([digest, at]) => `${at} ${digest}`));
        lines = seen.size;
      }
      journal.append(digests.map((digest) => `${atMs} ${digest}`).join("\n"));
      lines += digests.length;
    },
    close: () => journal.close(),
  });
}
