// Inbox items, and a person's answer to one.

import { z } from "zod";
import { json, subject, time } from "./common.ts";

export const ITEM_KINDS = ["gate", "question", "choice", "escalation", "budget"] as const;

export const inboxItemSchema = z
  .object({
    id: z.string().meta({ description: "RUN.NUMBER" }),
    runId: z.string(),
    number: z.int(),
    kind: z.enum(ITEM_KINDS),
    runNumber: z.int(),
    flow: z.string(),
    subject,
    word: z.string().meta({ description: "the run's status in the words of its flow" }),
    stage: z.string(),
    who: z.string(),
    openedAt: time,
    version: z.string().meta({ description: "pass it as If-Match with the answer" }),
    asks: z.array(z.string()).meta({ description: "the question, in sentences" }),
    answers: z.array(z.string()).meta({ description: "the possible answers; empty if a text is expected" }),
    leads: z
      .array(
        z.object({
          answer: z.string().meta({ description: "empty if a text is expected" }),
          to: z.string().meta({ description: "the stage that works or waits then, or end, cancel, stop" }),
          who: z.string().meta({ description: "the agent or person of that stage; empty without one" }),
          isGate: z.boolean().meta({ description: "a person decides there and no agent works" }),
          word: z.string().meta({ description: "the run's status word then" }),
        }),
      )
      .meta({ description: "the consequence of each answer" }),
    said: z
      .object({ stage: z.string(), word: z.string() })
      .nullable()
      .meta({ description: "the last verdict before this" }),
    spent: z
      .object({ usd: z.number().nullable(), isWhole: z.boolean() })
      .meta({ description: "the run's known cost; usd is null if none is known" }),
    loops: z.array(z.object({ counter: z.string(), loops: z.int(), max: z.int().nullable() })),
    branch: z.string().nullable().meta({ description: "the branch of the work; null for work in place" }),
    commit: z.string().nullable().meta({ description: "the commit that a decision is bound to" }),
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

const checkedStage = z.object({
  stage: z.string(),
  agent: z.string(),
  attempt: z.int().meta({ description: "the last one that has ended; the other fields describe it" }),
  runner: z.string().nullable(),
  by: z.enum(["agent", "check", "passrail", "outside"]).meta({
    description:
      "what did the work: an agent's program; a program that the flow names and whose exit code is the verdict; Passrail itself; an outside agent",
  }),
  exitCode: z.int().nullable().meta({ description: "of the program that played the agent" }),
  commits: z.object({ from: z.string(), to: z.string() }).nullable().meta({ description: "null without any" }),
  files: z.array(z.string()).meta({ description: "the files that it changed, according to git; the first fifty" }),
  warnings: z
    .array(z.string())
    .meta({ description: "problems that Passrail found when it compared the report with the flow" }),
  isRepaired: z.boolean().meta({ description: "its first verdict was unreadable, and Passrail asked it again" }),
  reported: z
    .array(z.object({ name: z.string(), line: z.string(), isClean: z.boolean() }))
    .meta({ description: "checks that the agent says it ran, with the line of the tool; not run by Passrail" }),
  trust: z
    .array(z.object({ stage: z.string(), iteration: z.int(), isTrusted: z.boolean(), reasons: z.array(z.string()) }))
    .meta({ description: "whether its prompt says that it may rely on an earlier stage's report" }),
});

export const evidenceSchema = z.object({ stages: z.array(checkedStage) }).meta({ id: "Evidence" });

/** A single item, with the evidence for a decision. */
export const itemDetailSchema = z
  .object({ ...inboxItemSchema.shape, evidence: evidenceSchema })
  .meta({ id: "InboxItemDetail" });

export const inboxSchema = z.object({ items: z.array(inboxItemSchema) });

const ISSUES_AT_MOST = 100;
const ISSUE_CHARS = 2000;

/** One finding of a person, mostly a comment on a line of a diff. */
const givenIssueSchema = z
  .strictObject({
    severity: z.string().min(1).max(40).optional(),
    description: z
      .string()
      .max(ISSUE_CHARS)
      .refine((text) => text.trim() !== "", "expected some text"),
    file: z.string().min(1).max(1000).optional(),
    line: z.int().min(1).max(10_000_000).optional(),
  })
  .meta({ id: "GivenIssue" });

export const answerSchema = z
  .strictObject({
    answer: z.string().max(200).default("").meta({ description: "one of `answers`; omitted if a text is expected" }),
    text: z.string().default("").meta({ description: "answer, comment, reason or amount" }),
    issues: z.array(givenIssueSchema).max(ISSUES_AT_MOST).default([]).meta({
      description: "the issues to resolve, for gates and escalations; the next attempt gets them word for word",
    }),
  })
  .meta({ id: "Answer" });

/** A decision: the answer, the person and the time. */
const decisionSchema = z
  .object({
    id: z.string().meta({ description: "RUN.NUMBER of the item" }),
    runId: z.string(),
    subject,
    kind: z.enum(ITEM_KINDS),
    stage: z.string(),
    answer: z.string().meta({ description: "empty if a text was expected" }),
    text: z.string(),
    by: z.string(),
    at: time,
  })
  .meta({ id: "Decision" });

export const decisionsSchema = z.object({
  decisions: z.array(decisionSchema),
  isWhole: z.boolean().meta({ description: "false if more events followed than were read" }),
});

export const answeredSchema = z.object({
  id: z.string(),
  answer: z.string(),
  run: z.object({ id: z.string(), status: z.string(), word: z.string() }),
  decided: z
    .object({ answer: z.string(), text: z.string(), by: z.string(), at: time })
    .optional()
    .meta({ description: "present if the same answer was given before; then nothing has changed" }),
});
