// The page Now: the work of this moment, the next work, the cost of today, and a person's snoozed entries.

import { z } from "zod";
import { time } from "./common.ts";
import { queueEntrySchema } from "./machine.ts";

const usage = z
  .object({
    usd: z.number().nullable(),
    inputTokens: z.number().nullable(),
    outputTokens: z.number().nullable(),
    cachedTokens: z.number().nullable(),
  })
  .nullable()
  .meta({ description: "of this attempt so far; null if its program has not reported any" });

const workingSchema = z
  .object({
    runId: z.string(),
    number: z.int(),
    flow: z.string(),
    title: z.string(),
    project: z.string().meta({ description: "the folder" }),
    stage: z.string(),
    attempt: z.int(),
    agent: z.string(),
    runner: z.string().nullable(),
    model: z.string().nullable(),
    worker: z
      .string()
      .nullable()
      .meta({ description: "the worker that carries it out; null: the machine of the daemon" }),
    since: time,
    lastLine: z
      .object({ text: z.string(), at: time.nullable() })
      .nullable()
      .meta({ description: "what the agent last said or did, in one line; null before its first" }),
    usage,
  })
  .meta({ id: "WorkingAttempt" });

const snoozedSchema = z.object({
  id: z.string().meta({ description: "of an item or a loose end" }),
  until: time,
});

const loginSchema = z.object({
  runner: z.string(),
  evidence: z.string().meta({ description: "how that was found out" }),
  fix: z.string().meta({ description: "the command that logs in" }),
});

export const nowSchema = z
  .object({
    working: z.array(workingSchema).meta({ description: "a row per attempt that works" }),
    next: z.array(queueEntrySchema.extend({ project: z.string() })).meta({ description: "in order, per project" }),
    today: z
      .object({
        since: time,
        usd: z.number(),
        unknownUsd: z.int().meta({ description: "attempts whose cost is not known" }),
        tokens: z.number(),
        limit: z
          .object({ usd: z.number().nullable(), tokens: z.number().nullable() })
          .meta({ description: "the budget of a day; null without one" }),
      })
      .meta({ description: "since the midnight of UTC" }),
    paused: z
      .object({
        by: z.string().meta({ description: "who paused everything" }),
        since: time,
        reason: z.string(),
        text: z.string().meta({ description: "for people: everything is paused by ann: night" }),
      })
      .nullable()
      .meta({ description: "the pause of everything, which also holds runs that are started later; null without one" }),
    logins: z.array(loginSchema).meta({ description: "programs that play agents here and are logged out" }),
    snoozed: z.array(snoozedSchema).meta({ description: "what the caller hides until a time" }),
    isNew: z.boolean().meta({ description: "nothing has ever run here" }),
  })
  .meta({ id: "Now" });

export const snoozeSchema = z
  .strictObject({
    id: z.string().min(1).max(1200).meta({ description: "the id of an item or a loose end" }),
    until: z.iso
      .datetime({ error: "expected a time such as 2026-01-31T12:00:00Z" })
      .nullable()
      .meta({ description: "null shows it again" }),
  })
  .meta({ id: "Snooze" });

export const snoozedListSchema = z.object({ snoozed: z.array(snoozedSchema) });
