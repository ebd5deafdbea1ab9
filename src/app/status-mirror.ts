// Whether the status mirror is in step with the store, for every door.

import { readMirrorNote } from "../mirror/mirror-note.ts";
import type { Settings } from "../settings/settings.ts";
import type { Store } from "../store/store.ts";

export type StatusMirrorState = {
  /** Where the rows go, without a password; null before the first start of a process that performs. */
  readonly to: string | null;
  /** "behind": the database cannot be written. "copying": rows are still on their way. */
  readonly state: "in-step" | "copying" | "behind";
  /** Events whose rows are not written yet. */
  readonly events: number;
  readonly behindSince: string | null;
  readonly reason: string | null;
  readonly writtenAt: string | null;
  /** Rows that the database does not take, the latest only. */
  readonly refused: readonly { readonly id: string; readonly reason: string; readonly at: string }[];
};

/** Null without a mirror. */
export async function lookAtMirror(
  home: string,
  { statusMirror }: Pick<Settings, "statusMirror">,
  store: Pick<Store, "incarnation" | "lastSeq">,
): Promise<StatusMirrorState | null> {
  if (statusMirror === null) return null;
  const found = readMirrorNote(home);
  const note = found?.incarnation === store.incarnation() ? found : null;
  const events = Math.max(0, (await store.lastSeq()) - (note?.seq ?? 0));
  const behind = note?.behind ?? null;
  return {
    to: note?.to ?? null,
    state: behind !== null ? "behind" : events > 0 ? "copying" : "in-step",
    events,
    behindSince: behind?.since ?? null,
    reason: behind?.reason ?? null,
    writtenAt: note?.writtenAt ?? null,
    refused: note?.refused ?? [],
  };
}
