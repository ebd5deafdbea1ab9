// One file of an attempt, read from its beginning to its end and then followed while it grows. Of the text only the parts that were looked at
// last are kept. It is a plain store: the page is told that something changed, at most ten times a second, and asks for the lines it shows.

import { call } from "../../base/api.ts";
import type { AttemptFile } from "../types.ts";
import { addPart, EMPTY, linesOf, type LogIndex, partAt } from "./lines.ts";

export type LogReference = {
  readonly run: string;
  readonly stage: string;
  readonly attempt: number;
  readonly file: AttemptFile;
};
export type LogState = {
  readonly index: LogIndex;
  readonly error: unknown;
  /** Grows with every change. */
  readonly version: number;
};
export type LogSource = {
  readonly state: () => LogState;
  readonly watch: (changed: () => void) => () => void;
  /** Undefined while its part is fetched. */
  readonly line: (index: number) => string | undefined;
  /** Whether somebody still writes to it. */
  readonly setGrowing: (isGrowing: boolean) => void;
  readonly close: () => void;
};

const KEPT_PARTS = 24;
const TELL_MS = 100;
const LOOK_MS = 1000;

export function openLog(reference: LogReference): LogSource {
  const watchers = new Set<() => void>();
  const kept = new Map<number, readonly string[]>();
  const loading = new Set<number>();
  const stop = new AbortController();
  let state: LogState = { index: EMPTY, error: null, version: 0 };
  let isGrowing = false;
  let telling: ReturnType<typeof setTimeout> | undefined;
  let looking: ReturnType<typeof setTimeout> | undefined;
  let isReading = false;

  const set = (change: Partial<LogState>): void => {
    state = { ...state, ...change, version: state.version + 1 };
    // Not by animation frames: they stop in tabs that nobody sees.
    telling ??= setTimeout(() => {
      telling = undefined;
      for (const watcher of watchers) watcher();
    }, TELL_MS);
  };
  const keep = (offset: number, lines: readonly string[]): void => {
    kept.delete(offset);
    kept.set(offset, lines);
    for (const oldest of kept.keys()) {
      if (kept.size <= KEPT_PARTS) break;
      kept.delete(oldest);
    }
  };
  const fetchPart = (offset: number) =>
    call("attemptFile", { params: reference, query: { offset } }, { signal: stop.signal });

  async function readOn(): Promise<void> {
    if (isReading || stop.signal.aborted) return;
    isReading = true;
    try {
      do {
        const part = await fetchPart(state.index.next);
        // Nothing new: nobody is told.
        if (state.index.isEnd && part.size === state.index.size) break;
        const { index, lines } = addPart(state.index, part);
        keep(part.offset, lines);
        set({ index, error: null });
      } while (!state.index.isEnd);
    } catch (error) {
      if (!stop.signal.aborted) set({ error });
    } finally {
      isReading = false;
    }
    clearTimeout(looking);
    if (isGrowing && !stop.signal.aborted) looking = setTimeout(() => void readOn(), LOOK_MS);
  }

  async function fetchAgain(offset: number): Promise<void> {
    if (loading.has(offset)) return;
    loading.add(offset);
    try {
      const { text } = await fetchPart(offset);
      const at = state.index.parts.findIndex((part) => part.offset === offset);
      const part = state.index.parts[at];
      if (part === undefined) return;
      keep(offset, linesOf(part, text, state.index.isEnd && at === state.index.parts.length - 1));
      set({});
    } catch (error) {
      if (!stop.signal.aborted) set({ error });
    } finally {
      loading.delete(offset);
    }
  }

  void readOn();
  return {
    state: () => state,
    watch: (changed) => {
      watchers.add(changed);
      return () => watchers.delete(changed);
    },
    line: (index) => {
      const part = partAt(state.index.parts, index);
      if (part === undefined) return undefined;
      const lines = kept.get(part.offset);
      if (lines === undefined) void fetchAgain(part.offset);
      return lines?.[index - part.firstLine];
    },
    setGrowing: (next) => {
      if (isGrowing === next) return;
      isGrowing = next;
      // Also when it has just ended: its last words may not have been read.
      void readOn();
    },
    close: () => {
      stop.abort();
      clearTimeout(looking);
      clearTimeout(telling);
    },
  };
}

/** The whole file as text, for a download. */
export async function wholeFile(reference: LogReference): Promise<string> {
  const parts: string[] = [];
  for (let offset: number | null = 0; offset !== null; ) {
    const part: { readonly text: string; readonly next: number | null } = await call("attemptFile", {
      params: reference,
      query: { offset },
    });
    parts.push(part.text);
    offset = part.next;
  }
  return parts.join("");
}
