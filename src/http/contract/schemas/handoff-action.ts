// Actions on the handoffs of a story and their answers, in the names of source 003.

import { z } from "zod";
import { json, REASON_CHARS } from "./common.ts";
import { findingNotesSchema } from "./finding.ts";
import { handoffRowSchema } from "./handoff-row.ts";

const HANDOFF_ACTIONS = ["create", "accept", "heartbeat", "reject", "timeout", "cleanup"] as const;
export const PAYLOAD_BYTES = 1024 * 1024;

export const storyId = z
  .string("expected a story's id")
  .max(200)
  .refine((id) => id.trim() !== "" && !/[\s\p{C}]/u.test(id), "expected a story's id")
  .meta({ examples: ["v0.1:1.1.1"] });

export const agentName = z
  .string("expected an agent's name")
  .min(1, "expected an agent's name")
  .max(100)
  .meta({ examples: ["implementer"] });

/** The text "1" is refused, not converted to a number. */
const handoffId = z.int("expected a positive whole number").positive("expected a positive whole number");
const payload = z
  .record(z.string(), json)
  .optional()
  .meta({ description: "the data for the receiver: analysis, plan, review notes" });

/** Minutes as text in a URL; 0 for every pending handoff. */
const minutes = z
  .string()
  .max(20)
  .refine((text) => text.trim() !== "" && Number(text) >= 0 && Number(text) <= MAX_MINUTES, "expected minutes from 0")
  .transform(Number)
  .meta({ type: "number", minimum: 0 });
const MAX_MINUTES = 10 * 366 * 24 * 60;

export const handoffQuerySchema = z.strictObject({
  storyId: storyId.optional(),
  agent: agentName.optional().meta({ description: "only the pending handoff to this agent" }),
  stale: z.enum(["true", "false"]).optional().meta({ description: "pending ones that are older than `minutes`" }),
  minutes: minutes.optional(),
});

export const handoffActionSchema = z
  .discriminatedUnion(
    "action",
    [
      z.strictObject({
        action: z.literal("create"),
        storyId,
        fromAgent: agentName,
        toAgent: agentName,
        payload,
        findings: findingNotesSchema,
      }),
      z.strictObject({ action: z.literal("accept"), handoffId, payload }),
      z.strictObject({ action: z.literal("heartbeat"), handoffId }),
      z.strictObject({
        action: z.literal("reject"),
        handoffId,
        reason: z
          .string("expected a reason")
          .max(REASON_CHARS)
          .refine((reason) => reason.trim() !== "", "expected a reason that is not blank"),
        findings: findingNotesSchema,
      }),
      z.strictObject({
        action: z.literal("timeout"),
        handoffId,
        reason: z.string().max(REASON_CHARS).optional(),
      }),
      z.strictObject({ action: z.literal("cleanup"), storyId }),
    ],
    { error: `expected one of ${HANDOFF_ACTIONS.join(", ")}` },
  )
  .meta({ id: "HandoffAction" });

export type HandoffAction = z.output<typeof handoffActionSchema>;

const success = z.literal(true);
const warnings = z.array(z.string()).meta({ description: "warnings about a payload that was accepted" });
const inbox = z.string().nullable().meta({ description: "the item that the story waits for now" });

const handedOnSchema = z.object({
  success,
  handoff: handoffRowSchema.nullable().meta({ description: "null if the story waits for a person instead" }),
  warnings,
  inbox,
});
const takenSchema = z.object({
  success,
  handoff: handoffRowSchema,
  leaseUntil: z
    .string()
    .nullable()
    .optional()
    .meta({ description: "the next sign of life is due by then; null if the work is never taken back" }),
});
const sentBackSchema = z.object({
  success,
  handoff: handoffRowSchema,
  returned: handoffRowSchema.nullable().meta({ description: "null if the story waits for a person instead" }),
  inbox,
});
const cleanedSchema = z.object({ success, deleted: z.int() });

export const handoffActedSchema = z
  .union([handedOnSchema, sentBackSchema, takenSchema, cleanedSchema])
  .meta({ id: "HandoffActed" });

export const handoffsSchema = z
  .union([
    z.object({
      currentAgent: z.string().nullable(),
      phase: z.string().nullable(),
      handoffs: z.array(handoffRowSchema).meta({ description: "oldest first" }),
    }),
    z.object({ handoff: handoffRowSchema.nullable() }),
    z.object({ stale: z.array(handoffRowSchema), thresholdMinutes: z.number() }),
  ])
  .meta({ id: "Handoffs" });
