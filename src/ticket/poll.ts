// A task that repeats: at once on request, else after a pause. One pass runs at a time; a request during a pass causes one more pass.

export type Poll = {
  /** Allows passes: the first after `firstMs`, or on request. */
  start(firstMs?: number): void;
  /** Requests a pass and resolves when it has ended; at once if the poll is stopped. */
  now(): Promise<void>;
  /** Starts no further pass. Resolves when the current one has ended. */
  stop(): Promise<void>;
  readonly isOn: boolean;
  /** A pass runs now or is requested. */
  readonly isBusy: boolean;
};

export type PollOptions = {
  readonly task: () => Promise<void>;
  readonly pauseMs: () => number;
  readonly onError: (error: unknown) => void;
};

export function createPoll({ task, pauseMs, onError }: PollOptions): Poll {
  let isOn = false;
  let isWanted = false;
  let current: Promise<void> | undefined;
  let timer: NodeJS.Timeout | undefined;
  return {
    start(firstMs) {
      isOn = true;
      if (firstMs !== undefined) schedule(firstMs);
    },
    now,
    async stop() {
      isOn = false;
      clearTimeout(timer);
      await current;
    },
    get isOn() {
      return isOn;
    },
    get isBusy() {
      return current !== undefined || isWanted;
    },
  };

  function now(): Promise<void> {
    if (!isOn) return Promise.resolve();
    isWanted = true;
    current ??= passes();
    return current;
  }

  async function passes(): Promise<void> {
    while (isWanted && isOn) {
      isWanted = false;
      await task().catch(onError);
    }
    isWanted = false;
    current = undefined;
    schedule(pauseMs());
  }

  function schedule(ms: number): void {
    clearTimeout(timer);
    if (!isOn) return;
    timer = setTimeout(() => void now(), ms);
    timer.unref();
  }
}
