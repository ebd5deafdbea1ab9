// One file of an attempt, read from beginning to end and then followed while it grows: only new lines are read. Only the most recently shown parts stay in memory.

import { ApiError, call } from "../../base/api.ts";
import { onChanges } from "../../base/live/live.ts";
import type { LiveChange } from "../../base/live/protocol.ts";
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
/** The daemon says when there is more; this is for a lost message, and shows the daemon that the page still follows. */
const LOOK_MS = 40_000;

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
        const { index, at, isMore, lines } = addPart(known, part);
        const had = isMore ? store.linesAt(at) : [];
        const whole = known.isOpen ? had?.slice(0, -1) : had;
        if (whole !== undefined) store.keep(at, isMore ? [...whole, ...lines] : lines);
        store.set({ index, error: null });
      } while (!store.state().index.isEnd);
    } catch (error) {
      if (stop.signal.aborted) return;
      // An output that was too long is shortened when its program ends: then everything is read again.
      const isShorter = error instanceof ApiError && error.problem.code === "invalid_query";
      if (!isShorter || store.state().index.next === 0) return store.set({ error });
      store.forget();
      await readOn();
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

  let leave: (() => void) | undefined;
  const start = (): void => {
    leave = onChanges((changes) => {
      if (changes === "reset" || changes.some((change) => isAbout(reference, change))) void poll.now();
    });
    void poll.now();
  };
  return {
    state: store.state,
    watch: (changed) => {
      // React may begin to draw a page, and begin anew: a log that is never shown is not read.
      if (leave === undefined) start();
      return store.watch(changed);
    },
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
      leave?.();
      poll.stop();
      store.close();
    },
  };
}

function isAbout({ run, stage, attempt }: LogReference, { runId, growth }: LiveChange): boolean {
  return runId === run && growth?.stage === stage && growth.attempt === attempt;
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
    forget(): void {
      kept.clear();
      state = { ...state, index: EMPTY };
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

/** Reads on request, and from time to time while `isOn`. Never two reads at the same time: a request meanwhile is done afterwards. */
function createPoll(read: () => Promise<void>, mayRead: () => boolean) {
  let isOn = false;
  let isReading = false;
  let isAskedAgain = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const now = async (): Promise<void> => {
    if (isReading) isAskedAgain = true;
    if (isReading || !mayRead()) return;
    isReading = true;
    do {
      isAskedAgain = false;
      await read();
    } while (wasAskedAgain() && mayRead());
    isReading = false;
    clearTimeout(timer);
    if (isOn && mayRead()) timer = setTimeout(() => void now(), LOOK_MS);
  };
  /** Read by a function, because it changes while others wait. */
  const wasAskedAgain = (): boolean => isAskedAgain;
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
