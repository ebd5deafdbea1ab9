// An agent's activity, event by event, as people read it.

import { z } from "zod";

const place = z.int().meta({ description: "where its line begins in the file, in bytes; it names the event" });
const at = z.string().meta({ description: "ISO 8601; empty where no time is known" });
const isCut = z.boolean().meta({ description: "the file has more of it" });

const callSchema = z
  .object({
    kind: z.enum(["command", "read", "search", "edit", "web", "task", "plan", "verdict", "question", "other"]),
    name: z.string(),
    title: z.string().meta({ description: "one line: the command, the file, the pattern" }),
    detail: z.string(),
    diff: z
      .object({
        lines: z.array(z.object({ sign: z.enum(["+", "-", " "]), text: z.string() })),
        added: z.int(),
        removed: z.int(),
      })
      .nullable()
      .meta({ description: "the first lines of the change, where the input of the tool shows it" }),
  })
  .meta({ id: "ActivityCall" });

const eventSchema = z
  .discriminatedUnion("type", [
    z.object({ type: z.literal("session"), place, at, model: z.string().nullable() }),
    z.object({ type: z.literal("message"), place, at, text: z.string(), isCut }),
    z.object({ type: z.literal("thinking"), place, at, text: z.string(), isCut }),
    z.object({ type: z.literal("called"), place, at, id: z.string(), call: callSchema }),
    z.object({ type: z.literal("returned"), place, at, id: z.string(), ok: z.boolean(), output: z.string(), isCut }),
    z.object({
      type: z.literal("notice"),
      place,
      at,
      kind: z.enum(["retry", "limit", "denied", "warning"]),
      text: z.string(),
      resetsAt: z.string().nullable(),
    }),
    z.object({ type: z.literal("task"), place, at, name: z.string(), status: z.string(), text: z.string() }),
    z.object({
      type: z.literal("usage"),
      place,
      at,
      tokens: z.int().nullable(),
      usd: z.number().nullable(),
    }),
    z.object({ type: z.literal("printed"), place, at, text: z.string() }),
  ])
  .meta({ id: "ActivityEvent" });

export const activityPageSchema = z
  .object({
    source: z
      .enum(["events", "output"])
      .meta({ description: "the conversation of an agent, or the lines of a program that only prints" }),
    size: z.int().meta({ description: "bytes of the whole file now" }),
    from: z.int(),
    to: z.int().meta({ description: "pass it as `from` for what comes next, also while the attempt works" }),
    isEnd: z.boolean().meta({ description: "there was nothing whole after `to`" }),
    events: z.array(eventSchema),
  })
  .meta({ id: "ActivityPage" });

export const foundActivitySchema = z
  .object({
    found: z.array(
      z.object({
        stage: z.string(),
        attempt: z.int(),
        place,
        at,
        what: z.string().meta({ description: "message, thinking, called, returned, notice, task or printed" }),
        text: z.string().meta({ description: "the line around the text, at most 300 characters" }),
      }),
    ),
    next: z
      .string()
      .nullable()
      .meta({ description: "pass it as `after` to continue; null when every attempt was searched" }),
  })
  .meta({ id: "FoundActivity" });
