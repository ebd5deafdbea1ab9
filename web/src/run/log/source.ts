// One file of an attempt, read from beginning to end and then polled while it grows. Only the most recently shown parts stay in memory.

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
  /** Increases with every change. */
  readonly version: number;
};
export type LogSource = {
  readonly state: () => LogState;
  readonly watch: (changed: () => void) => () => void;
  /** Undefined while its part is loading. */
  readonly line: (index: number) => string | undefined;
  /** Whether the attempt still writes to it. */
  readonly setGrowing: (isGrowing: boolean) => void;
  readonly close: () => void;
};

const KEPT_PARTS = 24;
const TELL_MS = 100;
const LOOK_MS = 1000;

export function openLog(reference: LogReference): LogSource {
  const stop = new AbortController();
  const store = createLogStore();
  const poll = createPoll(readOn, () => !stop.signal.aborted);
  const loading = new Set<number>();
  const fetchPart = (offset: number) =>
    call("attemptFile", { params: reference, query: { offset } }, { signal: stop.signal });

  async function readOn(): Promise<void> {
    try {
      do {
        const { index: known } = store.state();
        const part = await fetchPart(known.next);
        if (known.isEnd && part.size === known.size) return;
        const { index, lines } = addPart(known, part);
        store.keep(part.offset, lines);
        store.set({ index, error: null });
      } while (!store.state().index.isEnd);
    } catch (error) {
      if (!stop.signal.aborted) store.set({ error });
    }
  }

  async function fetchAgain(offset: number): Promise<void> {
    if (loading.has(offset)) return;
    loading.add(offset);
    try {
      const { text } = await fetchPart(offset);
      const { parts, isEnd } = store.state().index;
      const at = parts.findIndex((part) => part.offset === offset);
      const part = parts[at];
      if (part === undefined) return;
      store.keep(offset, linesOf(part, text, isEnd && at === parts.length - 1));
      store.set({});
    } catch (error) {
      if (!stop.signal.aborted) store.set({ error });
    } finally {
      loading.delete(offset);
    }
  }

  void poll.now();
  return {
    state: store.state,
    watch: store.watch,
    line: (index) => {
      const part = partAt(store.state().index.parts, index);
      if (part === undefined) return undefined;
      const lines = store.linesAt(part.offset);
      if (lines === undefined) void fetchAgain(part.offset);
      return lines?.[index - part.firstLine];
    },
    setGrowing: (isGrowing) => poll.setOn(isGrowing),
    close: () => {
      stop.abort();
      poll.stop();
      store.close();
    },
  };
}

/** The index of all parts, and the text of the most recently shown ones. Notifies its listeners at most ten times a second. */
function createLogStore() {
  const watchers = new Set<() => void>();
  const kept = new Map<number, readonly string[]>();
  let state: LogState = { index: EMPTY, error: null, version: 0 };
  let telling: ReturnType<typeof setTimeout> | undefined;
  return {
    state: (): LogState => state,
    watch: (changed: () => void) => {
      watchers.add(changed);
      return () => watchers.delete(changed);
    },
    set(change: Partial<LogState>): void {
      state = { ...state, ...change, version: state.version + 1 };
      // A timer instead of an animation frame: those stop in background tabs.
      telling ??= setTimeout(() => {
        telling = undefined;
        for (const watcher of watchers) watcher();
      }, TELL_MS);
    },
    linesAt: (offset: number) => kept.get(offset),
    keep(offset: number, lines: readonly string[]): void {
      kept.delete(offset);
      kept.set(offset, lines);
      for (const oldest of kept.keys()) {
        if (kept.size <= KEPT_PARTS) break;
        kept.delete(oldest);
      }
    },
    close: () => clearTimeout(telling),
  };
}

/** Reads once, and every second while `isOn`. Never two reads at the same time. */
function createPoll(read: () => Promise<void>, mayRead: () => boolean) {
  let isOn = false;
  let isReading = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const now = async (): Promise<void> => {
    if (isReading || !mayRead()) return;
    isReading = true;
    await read();
    isReading = false;
    clearTimeout(timer);
    if (isOn && mayRead()) timer = setTimeout(() => void now(), LOOK_MS);
  };
  return {
    now,
    setOn(next: boolean): void {
      if (isOn === next) return;
      isOn = next;
      // Also when it is switched off: the attempt's last lines may not have been read.
      void now();
    },
    stop: () => clearTimeout(timer),
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
