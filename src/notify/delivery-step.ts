// The decisions about deliveries, without clock, log or network: which are due now, which can never be sent, and the state of one after a
// try.

import type { DeliveryChange, NoticeDelivery } from "./deliveries.ts";
import { afterTry } from "./schedule.ts";
import type { SendOutcome } from "./send.ts";

/** Facts for the plan that are not in the log. */
export type DeliveryFacts = {
  readonly nowMs: number;
  /** Endpoints of the settings by name; one that answered 410 is disabled. */
  readonly endpoints: ReadonlyMap<string, "enabled" | "disabled">;
  /** Deliveries that are being sent: id -> endpoint. */
  readonly running: ReadonlyMap<string, string>;
  /** Deliveries whose outcome could not be logged: id -> time of the next try. */
  readonly heldUntilMs: ReadonlyMap<string, number>;
};

export type DeliveryPlan = {
  readonly start: readonly NoticeDelivery[];
  readonly end: readonly { readonly delivery: NoticeDelivery; readonly reason: string }[];
  /** Time until the next delivery is due; infinite where none waits for a time. */
  readonly nextInMs: number;
};

export type AfterTry = {
  readonly change: DeliveryChange;
  readonly disablesEndpoint: boolean;
  /** Why the delivery failed for good, for the operator. */
  readonly givenUp: string | null;
};

/** At once per endpoint, so that one that hangs holds up only its own deliveries. */
const MAX_RUNNING = 4;
/** Longer than all tries take together. Until then another process may know the endpoint. */
const ORPHANED_MS = 5 * 24 * 60 * 60 * 1000;

export function planDeliveries(deliveries: readonly NoticeDelivery[], facts: DeliveryFacts): DeliveryPlan {
  const { nowMs, endpoints, running, heldUntilMs } = facts;
  const start: NoticeDelivery[] = [];
  const end: { delivery: NoticeDelivery; reason: string }[] = [];
  const busy = countByEndpoint(running);
  let nextInMs = Number.POSITIVE_INFINITY;
  for (const delivery of questionsFirst(deliveries)) {
    const { id, endpoint, state } = delivery;
    if (state.status !== "pending" || running.has(id)) continue;
    const known = endpoints.get(endpoint);
    if (known === undefined) {
      if (nowMs - Date.parse(delivery.queuedAt) > ORPHANED_MS)
        end.push({ delivery, reason: "the endpoint was removed" });
      continue;
    }
    if (known === "disabled") {
      end.push({ delivery, reason: "the endpoint is disabled" });
      continue;
    }
    const inMs = Math.max(Date.parse(state.dueAt), heldUntilMs.get(id) ?? 0) - nowMs;
    const used = busy.get(endpoint) ?? 0;
    if (inMs > 0) nextInMs = Math.min(nextInMs, inMs);
    else if (used < MAX_RUNNING) {
      start.push(delivery);
      busy.set(endpoint, used + 1);
    }
  }
  return { start, end, nextInMs };
}

/** `isUnwanted`: its item was answered during the try, so a further try is not worth it. */
export function deliveryAfterTry(
  { tries: before }: Pick<NoticeDelivery, "tries">,
  outcome: SendOutcome,
  { nowMs, chance, isUnwanted }: { readonly nowMs: number; readonly chance: number; readonly isUnwanted: boolean },
): AfterTry {
  const at = iso(nowMs);
  const tries = before + 1;
  const next = afterTry(outcome, tries, chance);
  const attempt = { at, result: next.type === "delivered" ? "delivered" : next.reason };
  switch (next.type) {
    case "delivered":
      return { change: { tries, attempt, state: { status: "delivered", at } }, disablesEndpoint: false, givenUp: null };
    case "again": {
      const state = isUnwanted
        ? ({ status: "withdrawn", at } as const)
        : ({ status: "pending", dueAt: iso(nowMs + next.inMs) } as const);
      return { change: { tries, attempt, state }, disablesEndpoint: false, givenUp: null };
    }
    case "give-up":
    case "disable": {
      const { reason } = next;
      const disablesEndpoint = next.type === "disable";
      const change: DeliveryChange = { tries, attempt, state: { status: "failed", at, reason } };
      return { change, disablesEndpoint, givenUp: disablesEndpoint ? null : reason };
    }
  }
}

/** Notices that ask a person something, before those that only inform. */
function questionsFirst(deliveries: readonly NoticeDelivery[]): readonly NoticeDelivery[] {
  return deliveries.toSorted((a, b) => Number(a.notice.item === null) - Number(b.notice.item === null));
}

function countByEndpoint(running: ReadonlyMap<string, string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const endpoint of running.values()) counts.set(endpoint, (counts.get(endpoint) ?? 0) + 1);
  return counts;
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
