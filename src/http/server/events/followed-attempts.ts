// The working attempts that pages follow, and the sizes of their files. A page that reads an attempt follows it for a
// while and gets a message when there is more to read; a page that lists working attempts gets the last line itself. An
// attempt without a reader costs nothing. The server polls the files, because another process may write them.

import { attemptFiles } from "../../../attempt/attempt-files.ts";
import { optional } from "../../../core/optional.ts";
import { lookConfined } from "../../../file/confined.ts";
import type { AgentLine } from "../../../core/view/live-line.ts";
import type { AttemptGrowth } from "./message.ts";

type FollowedAttempt = Pick<AttemptGrowth, "runId" | "stage" | "attempt">;

export type FollowedAttempts = {
  /** A page has read this attempt, which works. */
  note(attempt: FollowedAttempt): void;
  /** A page has shown its last line in a list. */
  noteLine(attempt: FollowedAttempt): void;
  close(): void;
};

export type FollowedOptions = {
  readonly home: string;
  /** Milliseconds that only grow. */
  readonly now: () => number;
  readonly tell: (growth: AttemptGrowth) => void;
  readonly lastLine: (attempt: FollowedAttempt) => Promise<AgentLine | null>;
  readonly lookMs?: number;
};

/** Together with the way to the page and back this stays below two seconds. */
const LOOK_MS = 700;
/** A page that still looks reads again within this time, even if nothing has come. */
const FORGET_MS = 90_000;
const AT_MOST = 100;

type Watched = FollowedAttempt & {
  readonly seenAt: number;
  readonly told: string;
  /** When its line was last seen in a list; null if it was not. */
  readonly lineSeenAt: number | null;
};

export function createFollowedAttempts(options: FollowedOptions): FollowedAttempts {
  const { home, now, lookMs = LOOK_MS } = options;
  const watched = new Map<string, Watched>();
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    for (const [key, each] of watched) {
      if (now() - each.seenAt > FORGET_MS) {
        watched.delete(key);
        continue;
      }
      const growth = growthOf(home, each);
      const told = `${growth.events} ${growth.output}`;
      if (told === each.told) continue;
      watched.set(key, { ...each, told });
      const isListed = each.lineSeenAt !== null && now() - each.lineSeenAt <= FORGET_MS;
      void tellGrowth(options, growth, isListed);
    }
    if (watched.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
  const note = ({ runId, stage, attempt }: FollowedAttempt, isListed: boolean): void => {
    const key = `${runId} ${stage} ${attempt}`;
    const known = watched.get(key);
    const { events, output } = known === undefined ? growthOf(home, { runId, stage, attempt }) : NOTHING;
    const told = known?.told ?? `${events} ${output}`;
    const lineSeenAt = isListed ? now() : (known?.lineSeenAt ?? null);
    watched.delete(key);
    watched.set(key, { runId, stage, attempt, seenAt: now(), told, lineSeenAt });
    const oldest = watched.keys().next().value;
    if (watched.size > AT_MOST && oldest !== undefined) watched.delete(oldest);
    timer ??= setInterval(look, lookMs).unref();
  };
  return {
    note: (attempt) => note(attempt, false),
    noteLine: (attempt) => note(attempt, true),
    close: () => clearInterval(timer),
  };
}

/** Never rejects: an unreadable line is left out, and the growth is still reported. */
async function tellGrowth(
  { tell, lastLine }: Pick<FollowedOptions, "tell" | "lastLine">,
  growth: AttemptGrowth,
  isListed: boolean,
): Promise<void> {
  const line = isListed ? await lastLine(growth).catch(() => null) : undefined;
  tell({ ...growth, ...optional({ line }) });
}

const NOTHING = { events: null, output: null };

function growthOf(home: string, { runId, stage, attempt }: FollowedAttempt): AttemptGrowth {
  const files = attemptFiles(home, runId, stage, attempt);
  const sizeOf = (path: string): number | null => {
    const found = lookConfined(home, path);
    return found.ok && found.value?.isFile() === true ? Number(found.value.size) : null;
  };
  return { runId, stage, attempt, events: sizeOf(files.events), output: sizeOf(files.output) };
}
