// What waits for a person, and a person's answer to it.

import { z } from "zod";
import { json, subject, time } from "./common.ts";

export const inboxItemSchema = z
  .object({
    id: z.string().meta({ description: "RUN.NUMBER" }),
    runId: z.string(),
    number: z.int(),
    kind: z.enum(["gate", "question", "choice", "escalation", "budget"]),
    flow: z.string(),
    subject,
    stage: z.string(),
    who: z.string(),
    openedAt: time,
    version: z.string().meta({ description: "give it as If-Match with the answer" }),
    asks: z.array(z.string()).meta({ description: "what is asked, in sentences" }),
    answers: z.array(z.string()).meta({ description: "what may be answered; empty where a text is asked for" }),
    issues: z.array(json),
    budget: z
      .object({
        scope: z.string(),
        unit: z.enum(["usd", "tokens"]),
        used: z.number(),
        limit: z.number(),
        needed: z.number(),
      })
      .nullable(),
  })
  .meta({ id: "InboxItem" });

export const inboxSchema = z.object({ items: z.array(inboxItemSchema) });

export const answerSchema = z
  .strictObject({
    answer: z
      .string()
      .max(200)
      .default("")
      .meta({ description: "one of `answers`; left out where a text is asked for" }),
    text: z.string().default("").meta({ description: "answer, comment, reason or amount" }),
  })
  .meta({ id: "Answer" });

export const answeredSchema = z.object({
  id: z.string(),
  answer: z.string(),
  run: z.object({ id: z.string(), status: z.string(), word: z.string() }),
});
