// Results that earlier checks left, by program, tree and environment. The engine keeps them in its store.

import type { CachedCheck } from "../core/flow/check-result.ts";

export type CheckCache = {
  readonly find: (key: string, now: string) => Promise<CachedCheck | undefined>;
  readonly save: (check: CachedCheck) => Promise<void>;
};
