// A handoff in the names of source 003: the row of `agent_handoffs`, for the API and for a status mirror.

import { attemptFacts } from "../attempt-facts.ts";
import type { JsonObject } from "../json.ts";
import { outwardStatus, type StoryHandoff } from "./story.ts";

export type HandoffRowView = {
  readonly id: number;
  readonly story_id: string;
  readonly from_agent: string | null;
  readonly to_agent: string | null;
  readonly status: "pending" | "accepted" | "rejected";
  readonly payload: Record<string, unknown> | null;
  readonly rejection_reason: string | null;
  readonly created_at: string;
  readonly processed_at: string | null;
};

/** The columns that the view needs; a stored handoff has them. */
type ViewedHandoff = Omit<StoryHandoff, "fromAttempt" | "added"> & {
  readonly subjectId: string;
  readonly toStage: string | null;
  readonly processedAt: string | null;
  readonly payload: JsonObject | null;
};

/** `added`: the payloads that receivers added when they accepted, see `acceptedWith`. */
export function showHandoff(row: ViewedHandoff, added: AcceptedWith = new Map()): HandoffRowView {
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

export function acceptedWith(attempts: readonly { readonly facts: JsonObject }[]): AcceptedWith {
  const found = attempts.flatMap((attempt): [number, JsonObject][] => {
    const { accepted } = attemptFacts(attempt);
    return accepted === null ? [] : [[accepted.handoff, accepted.payload]];
  });
  return new Map(found);
}

function copy(payload: JsonObject | null): Record<string, unknown> | null {
  return payload === null ? null : { ...payload };
}
