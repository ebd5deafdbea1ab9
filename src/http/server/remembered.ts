// Idempotency keys: the same key with the same request is carried out once, and whoever repeats it gets the answer of the first time.
// This one remembers in memory for a day; what must also hold after a restart is derived from the key itself (signals, run ids).

export type Remembered = {
  /** "reused": the key belongs to another request. Only answers that `keeps` are remembered; the rest may be tried again. */
  once<T>(request: KeyedRequest<T>): Promise<T | "reused">;
};

export type KeyedRequest<T> = {
  readonly key: string;
  /** The same for the same request only. */
  readonly request: string;
  readonly act: () => Promise<T>;
  readonly keeps: (answer: T) => boolean;
};

const KEPT_MS = 24 * 3600_000;
const KEPT_AT_MOST = 10_000;

type Entry = { readonly request: string; readonly answer: Promise<unknown>; readonly until: number };

/** `now`: milliseconds since 1970. */
export function rememberInMemory(now: () => number): Remembered {
  const entries = new Map<string, Entry>();

  return {
    async once<T>({ key, request, act, keeps }: KeyedRequest<T>) {
      const known = entries.get(key);
      if (known !== undefined && known.until > now()) {
        return known.request === request ? ((await known.answer) as T) : "reused";
      }
      const answer = act();
      const entry: Entry = { request, answer, until: now() + KEPT_MS };
      entries.delete(key);
      entries.set(key, entry);
      forgetOld();
      const forget = () => {
        if (entries.get(key) === entry) entries.delete(key);
      };
      answer.then((found) => (keeps(found) ? undefined : forget()), forget);
      return answer;
    },
  };

  /** In the order in which they were made, so the first are the oldest. */
  function forgetOld(): void {
    for (const [key, { until }] of entries) {
      if (until > now() && entries.size <= KEPT_AT_MOST) return;
      entries.delete(key);
    }
  }
}
