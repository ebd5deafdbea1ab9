// Keys, the caller's identity, and the audit log. An answer contains a token only once, when its key is created.

import { z } from "zod";
import { LABEL_PATTERN } from "../../../core/worker/wire.ts";
import { PRINCIPALS, SCOPES } from "../scopes.ts";
import { time } from "./common.ts";
import { agentName, storyId } from "./handoff-action.ts";

export const KEY_KINDS = ["operator", "viewer", "agent", "worker", "webhook"] as const;

const NAME = "expected 1 to 48 letters, digits, dots, dashes or underscores, beginning with a letter or a digit";
const NOTE = "expected one line of at most 200 characters";

export const keyName = z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,47}$/, NAME);

/** Only some keys have these. */
const limits = {
  agent: agentName
    .optional()
    .meta({ description: "the agent that it speaks for; required for the kind agent, and only there" }),
  story: storyId.optional().meta({ description: "it is good for this story only; only for the kind agent" }),
  labels: z
    .array(z.string().regex(LABEL_PATTERN, "expected a label, such as gpu"))
    .min(1)
    .max(32)
    .optional()
    .meta({ description: "the only labels that its worker may have; only for the kind worker" }),
  expiresAt: z.iso
    .datetime("expected a time in UTC, such as 2026-01-31T12:00:00.000Z")
    .optional()
    .meta({ description: "it is refused from then on; without it, when it is revoked" }),
};

const shared = {
  device: z.literal(true).optional().meta({ description: "a paired device has it; logging out there revokes it" }),
  id: z.string(),
  name: z.string(),
  kind: z.enum(KEY_KINDS),
  note: z.string(),
  createdAt: time,
  ...limits,
};

const keySchema = z.object(shared).meta({ id: "Key" });
export const keyListSchema = z.object({ keys: z.array(keySchema) });

export const createKeySchema = z
  .strictObject({
    name: keyName.meta({ description: "the name of its holder; for a webhook, the name of its source" }),
    kind: z.enum(KEY_KINDS),
    note: z
      .string()
      .max(200, NOTE)
      .refine((text) => !/\p{Cc}/u.test(text), NOTE)
      .default(""),
    ...limits,
  })
  .superRefine(({ kind, agent, story, labels }, context) => {
    if (labels !== undefined && kind !== "worker")
      context.addIssue({ code: "custom", path: ["labels"], message: "belongs to keys of the kind worker" });
    if (kind === "agent" && agent === undefined)
      context.addIssue({ code: "custom", path: ["agent"], message: "expected the agent that the key speaks for" });
    if (kind === "agent") return;
    const path = agent !== undefined ? "agent" : story !== undefined ? "story" : undefined;
    if (path !== undefined)
      context.addIssue({ code: "custom", path: [path], message: "belongs to keys of the kind agent" });
  })
  .meta({ id: "CreateKey" });

export const createdKeySchema = z
  .object({ ...shared, token: z.string().meta({ description: "shown here and never again" }) })
  .meta({ id: "CreatedKey" });

export const revokedKeySchema = z.object({ id: z.string(), revoked: z.literal(true) });
export const endedSessionSchema = z.object({ ended: z.literal(true) });

export const whoamiSchema = z
  .object({
    kind: z.enum(PRINCIPALS),
    id: z.string(),
    name: z.string(),
    scopes: z.array(z.enum(SCOPES)),
    isSession: z.boolean(),
  })
  .meta({ id: "Whoami" });

export const AUDIT_TYPES = ["settings.loaded", "auth.failed", "token.used", "request.made", "request.refused"] as const;

const auditEntrySchema = z
  .object({
    seq: z.int(),
    at: time,
    type: z.enum(AUDIT_TYPES),
    principal: z.string().nullable().meta({ description: "id of the token's holder; null if unknown" }),
    who: z.string().nullable().meta({ description: "its name in the history of runs" }),
    from: z.string().meta({ description: "address and program, as far as known" }),
    what: z.string().meta({ description: "method and path" }),
    status: z.int().nullable(),
    code: z.string().nullable().meta({ description: "why it was refused" }),
    requestId: z.string().nullable(),
    leftOut: z.int().meta({ description: "the number of similar entries before it that were not recorded" }),
  })
  .meta({ id: "AuditEntry" });

export const auditPageSchema = z.object({
  entries: z.array(auditEntrySchema),
  next: z.int().nullable().meta({ description: "pass it as `before` for the next page; null at the end" }),
});
