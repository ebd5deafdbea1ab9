// The starts that the dispatcher was refused in its last round, for the API of the same process and, by a file of the state folder, for
// commands beside it and after it: all say the same about a ticket.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Problem } from "../../core/result.ts";
import type { RefusedStarts } from "../../core/ticket/cannot-start.ts";
import { replacePrivate } from "../../file/private-file.ts";
import { optional } from "../../core/optional.ts";

export type RefusedBoard = {
  /** Replaces the earlier ones. */
  set(refused: RefusedStarts): void;
  now(): RefusedStarts;
};

type Place = { readonly home: string; readonly project: string };

const MAX_BYTES = 4 * 1024 * 1024;
const schema = z.object({
  project: z.string(),
  starts: z.record(z.string(), z.object({ code: z.string(), message: z.string(), hint: z.string().optional() })),
});

export function createRefusedBoard(place: Place): RefusedBoard {
  // Until its own first round a process knows what the last one was refused. Otherwise a ticket that waits for a person would disappear from
  // the inbox for a moment at each start of the daemon, and people would be told of it again.
  let known = readRefused(place);
  let written = "";
  return {
    set(refused) {
      known = refused;
      const starts = Object.fromEntries([...refused].map(([id, problem]) => [id, shown(problem)]));
      const text = `${JSON.stringify({ project: place.project, starts })}\n`;
      if (text === written) return;
      try {
        replacePrivate(fileOf(place.home), text);
        written = text;
      } catch {
        // A full disk must not keep tickets from starting; the next round writes it again.
      }
    },
    now: () => known,
  };
}

/** As the last dispatcher of this project left it; none if another project's was the last. */
export function readRefused({ home, project }: Place): RefusedStarts {
  try {
    const text = readFileSync(fileOf(home), "utf8");
    const read = schema.safeParse(text.length > MAX_BYTES ? undefined : JSON.parse(text));
    if (!read.success || read.data.project !== project) return new Map();
    return new Map(Object.entries(read.data.starts).map(([id, problem]) => [id, shown(problem)]));
  } catch {
    return new Map();
  }
}

function shown({ code, message, hint }: { code: string; message: string; hint?: string | undefined }): Problem {
  return { code, message, ...optional({ hint }) };
}

function fileOf(home: string): string {
  return join(home, "refused.json");
}
