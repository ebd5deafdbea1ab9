// The log of acts outside, as a builtin sees it: it asks before each act, and reports what it saw afterwards. Both are stored before the
// call returns.

import type { OutwardIntent, OutwardSight } from "../core/run/outward-act.ts";

export type OutwardPermit =
  | { readonly type: "granted" }
  /** The stage is no longer wanted: it was canceled, or a person changed its ticket. */
  | { readonly type: "refused"; readonly why: string }
  /** Not now: the run is paused, or the ticket's file cannot be read. */
  | { readonly type: "held"; readonly why: string }
  /** Not before a person has approved the project's files again. */
  | { readonly type: "untrusted"; readonly why: string };

export type OutwardLog = {
  intend(act: OutwardIntent): Promise<OutwardPermit>;
  see(key: string, sight: OutwardSight): Promise<void>;
};
