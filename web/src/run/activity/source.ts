// The activity of one attempt's agent, as a window on its record: it begins with the end, grows backwards when a person scrolls up, and forwards
// while the agent works. The daemon sends a message when there is more, so that a silent agent costs nothing.

import type { ActivityEvent } from "../../../../src/core/view/activity-event.ts";
import { call } from "../../base/api.ts";
import { onChanges } from "../../base/live/live.ts";
import type { LiveChange } from "../../base/live/protocol.ts";

export type AttemptReference = { readonly run: string; readonly stage: string; readonly attempt: number };

export type ActivityState = {
  readonly events: readonly ActivityEvent[];
  readonly from: number;
  readonly to: number;
  /** Everything up to the present end is in the window. */
  readonly isEnd: boolean;
  readonly isLoaded: boolean;
  readonly error: unknown;
};

export type ActivityWindow = {
  readonly state: () => ActivityState;
  readonly watch: (changed: () => void) => () => void;
  /** Reads the part before the window, or after it. */
  readonly older: () => Promise<void>;
  readonly newer: () => Promise<void>;
  /** Begins again: at the end, or where this byte is. */
  readonly open: (place: number | "end") => Promise<void>;
  /** Whether the agent still works. */
  readonly setWorking: (isWorking: boolean) => void;
  readonly close: () => void;
};

const EMPTY: ActivityState = { events: [], from: 0, to: 0, isEnd: false, isLoaded: false, error: null };
/** The daemon forgets a page that does not ask; and a message that is lost costs at most this. */
const ASK_AGAIN_MS = 40_000;

export function openActivity(reference: AttemptReference, place: number | "end"): ActivityWindow {
  const stop = new AbortController();
  const watchers = new Set<() => void>();
  const reading = { state: EMPTY };
  const set = (change: Partial<ActivityState>): void => {
    reading.state = { ...reading.state, ...change };
    for (const watcher of watchers) watcher();
  };
  const fetchPart = (query: { from?: number; before?: number }) =>
    call("attemptActivity", { params: reference, query }, { signal: stop.signal });

  const alone = createTurns((error) => !stop.signal.aborted && set({ error }));

  const readOn = async (): Promise<void> => {
    for (;;) {
      const { to, events } = reading.state;
      const part = await fetchPart({ from: to });
      // An output that was too long is shortened when its program ends.
      if (part.size < to) return begin("end");
      set({ events: [...events, ...part.events], to: part.to, isEnd: part.isEnd, isLoaded: true, error: null });
      if (part.isEnd || part.to === to) return;
    }
  };

  const begin = async (at: number | "end"): Promise<void> => {
    const part = await fetchPart(at === "end" ? {} : { from: at });
    const { events, from, to, isEnd } = part;
    set({ events, from, to, isEnd, isLoaded: true, error: null });
  };

  const readBack = async (): Promise<void> => {
    const { from, events } = reading.state;
    if (from === 0) return;
    const part = await fetchPart({ before: from });
    set({ events: [...part.events, ...events], from: part.from, error: null });
  };

  const again = createRepeat(() => void alone(reading.state.isEnd ? readOn : () => Promise.resolve()));
  let leave: (() => void) | undefined;
  const start = (): void => {
    leave = onChanges((changes) => {
      const { state } = reading;
      const isMine = changes === "reset" || changes.some((change) => hasGrown(reference, change, state.to));
      // A window that does not reach the end grows when a person scrolls there.
      if (isMine && (state.isEnd || !state.isLoaded)) void alone(readOn);
    });
    void alone(() => begin(place));
  };

  return {
    state: () => reading.state,
    watch: (changed) => {
      // React may begin to draw a page, and begin anew: a window that is never shown reads nothing.
      if (leave === undefined) start();
      watchers.add(changed);
      return () => watchers.delete(changed);
    },
    older: () => alone(readBack),
    newer: () => alone(readOn),
    open: (at) => alone(() => begin(at)),
    setWorking: (isWorking) => {
      again.setOn(isWorking);
      // Its last words may not have been read.
      if (reading.state.isLoaded && reading.state.isEnd) void alone(readOn);
    },
    close: () => {
      stop.abort();
      again.setOn(false);
      leave?.();
    },
  };
}

function hasGrown({ run, stage, attempt }: AttemptReference, { runId, growth }: LiveChange, to: number): boolean {
  if (runId !== run || growth?.stage !== stage || growth.attempt !== attempt) return false;
  const bytes = growth.events ?? growth.output;
  return bytes !== null && bytes !== to;
}

/** One read at a time. Of the wishes that come meanwhile the last is granted afterwards. */
function createTurns(onError: (error: unknown) => void): (read: () => Promise<void>) => Promise<void> {
  let isBusy = false;
  let next: (() => Promise<void>) | undefined;
  const turn = async (read: () => Promise<void>): Promise<void> => {
    if (isBusy) return void (next = read);
    isBusy = true;
    try {
      await read();
    } catch (error) {
      onError(error);
    } finally {
      isBusy = false;
    }
    const wish = next;
    next = undefined;
    if (wish !== undefined) await turn(wish);
  };
  return turn;
}

function createRepeat(act: () => void) {
  let timer: ReturnType<typeof setInterval> | undefined;
  return {
    setOn(isOn: boolean): void {
      clearInterval(timer);
      timer = isOn ? setInterval(act, ASK_AGAIN_MS) : undefined;
    },
  };
}
