// A handoff in the names of source 003.

import { attemptFacts } from "../../../core/attempt-facts.ts";
import type { HandoffRowShown } from "../../contract/schemas/handoff-row.ts";
import type { JsonObject } from "../../../core/json.ts";
import { outwardStatus } from "../../../core/view/story.ts";
import type { AttemptRecord, HandoffRow } from "../../../store/store.ts";

/** `added`: the payloads that receivers added when they accepted, see `acceptedWith`. */
export function showHandoff(row: HandoffRow, added: AcceptedWith = new Map()): HandoffRowShown {
  const extra = added.get(row.number);
  return {
    id: row.id,
    story_id: row.subjectId,
    // A person's gate has no agent, so its stage is shown.
    from_agent: row.fromAgent ?? row.fromStage,
    to_agent: row.toAgent ?? row.toStage,
    status: outwardStatus(row.state),
    payload: extra === undefined ? copy(row.payload) : { ...row.payload, ...extra },
    rejection_reason: row.rejectionReason,
    created_at: row.createdAt,
    processed_at: row.processedAt,
  };
}

/** By the number of the handoff within its run. */
export type AcceptedWith = ReadonlyMap<number, JsonObject>;

/** The facts stored with an attempt that was accepted with a payload. */
export function acceptedFacts(handoff: number, payload: JsonObject): JsonObject {
  return { accepted: { handoff, payload } };
}

export function acceptedWith(attempts: readonly AttemptRecord[]): AcceptedWith {
  const found = attempts.flatMap((attempt): [number, JsonObject][] => {
    const { accepted } = attemptFacts(attempt);
    return accepted === null ? [] : [[accepted.handoff, accepted.payload]];
  });
  return new Map(found);
}

function copy(payload: JsonObject | null): Record<string, unknown> | null {
  return payload === null ? null : { ...payload };
}
