// Where a ticket's work went, as the stage that put it there has recorded it.

import type { z } from "zod";
import type { ticketSchema } from "../../api/schemas/ticket.ts";
import type { AttemptRecord } from "../../store/store.ts";

type Landed = z.input<typeof ticketSchema>["landed"];

/** The newest record counts: what was sent back and landed again is where it landed last. */
export function landedOf(attempts: readonly AttemptRecord[]): Landed {
  for (const { outcome } of attempts.toReversed()) {
    const payload = outcome?.["payload"];
    const landed = isRecord(payload) ? payload["landed"] : undefined;
    if (!isRecord(landed)) continue;
    const text = (key: string): string | null => (typeof landed[key] === "string" ? landed[key] : null);
    return { commit: text("commit"), branch: text("branch"), target: text("target"), how: text("how") };
  }
  return null;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
