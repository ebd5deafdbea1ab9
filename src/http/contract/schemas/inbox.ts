// Inbox items, and a person's answer to one.

import { z } from "zod";
import { evidenceTableSchema } from "./evidence-table.ts";
import { MARKED_KINDS } from "../../../core/view/marked-changes.ts";
import { containment, json, subject, time } from "./common.ts";
import { findingSchema } from "./finding.ts";
import { looseEndSchema } from "./loose-end.ts";
import { plannedStageSchema } from "./planned-stage.ts";

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
    why: z.string().nullable().meta({
      description: "why a person is asked now, for an escalation about a finding that does not get fixed; else null",
    }),
    waitsUntil: time.nullable().meta({
      description:
        "the agent that asked this question is at work and waits for the answer until then; a later answer goes to its next attempt; null if no agent waits",
    }),
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
          lands: z
            .object({
              way: z.enum(["land", "pr", "push", "stays"]).meta({
                description:
                  "land: the work is merged; pr: a person merges it later; push: only the branch leaves; stays: no work leaves",
              }),
              text: z.string(),
            })
            .nullable()
            .meta({ description: "where the work goes then; null if more work or another decision follows" }),
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
    findings: z.array(findingSchema).meta({
      description: "the open findings that the decision is about, with what both sides said",
    }),
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
  rung: z
    .string()
    .nullable()
    .meta({ description: "which rung of its ladder of runners it took, and why; null for a stage without one" }),
  containment,
  by: z.enum(["agent", "check", "passrail", "outside"]).meta({
    description:
      "what did the work: an agent's program; the program that the flow itself names and whose exit code is the verdict; Passrail itself; an outside agent",
  }),
  command: z
    .string()
    .nullable()
    .meta({ description: "the program that ran, with its arguments; null for a coding agent" }),
  replaced: z
    .string()
    .nullable()
    .meta({ description: "the flow's own command, if another program ran instead of it; else null" }),
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

const markedChange = z.object({
  path: z.string(),
  kind: z.enum(MARKED_KINDS),
  why: z.string().meta({ description: "completes the sentence that begins with the path" }),
});

export const evidenceSchema = z
  .object({
    stages: z.array(checkedStage),
    table: evidenceTableSchema,
    marked: z.array(markedChange).meta({
      description:
        "changes to files that decide what runs later: Passrail's own, CI configuration, hooks, submodules, agents' settings, lockfiles; the first 200",
    }),
  })
  .meta({ id: "Evidence" });

const briefingSchema = z
  .object({
    feature: z.string(),
    stages: z.array(plannedStageSchema),
    files: z.array(
      z.object({
        name: z.string().nullable().meta({ description: "the input; null for the project's rules" }),
        path: z.string(),
        sha256: z.string(),
        bytes: z.int(),
      }),
    ),
    repositories: z.array(
      z.object({
        name: z.string(),
        dir: z.string(),
        branch: z.string().nullable(),
        base: z.string().nullable(),
        commit: z.string(),
        dirty: z.int().meta({ description: "uncommitted files, which agents do not get" }),
      }),
    ),
    contracts: z.string().nullable().meta({ description: "the plan's sections about contracts and interfaces" }),
    usd: z.number().nullable().meta({ description: "one attempt of each stage; null if no cost is known" }),
    unknown: z.int().meta({ description: "stages whose cost is unknown" }),
  })
  .meta({ id: "Briefing" });

/** A single item, with the evidence for a decision. */
export const itemDetailSchema = z
  .object({
    ...inboxItemSchema.shape,
    work: z
      .array(
        z.object({
          branch: z.string(),
          commit: z.string().nullable(),
          commits: z.int().meta({ description: "how many commits the run's attempts added" }),
          workspace: z.string().nullable().meta({ description: "the folder of the branch, if an attempt had one" }),
        }),
      )
      .meta({ description: "the branches that the decision is about; the first 50" }),
    moved: z.object({ branch: z.string(), from: z.string(), to: z.string() }).nullable().meta({
      description: "the branch has moved after the last stage, from the commit that the stages judged; null if not",
    }),
    evidence: evidenceSchema,
    briefing: briefingSchema.nullable().meta({ description: "what will run; only at a gate before the first stage" }),
  })
  .meta({ id: "InboxItemDetail" });

export const inboxSchema = z.object({
  items: z.array(inboxItemSchema),
  looseEnds: z.array(looseEndSchema).meta({
    description:
      "what waits although no stage asked: unmerged work, stopped runs, blocked tickets, broken files, files that wait for trust; each is gone when it is settled",
  }),
  unseen: z.int().meta({
    description: "older completed runs that were not looked at for unmerged work yet; ask again in a moment",
  }),
});

const ISSUES_AT_MOST = 100;
const ISSUE_CHARS = 2000;
const SUGGESTION_CHARS = 10_000;

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
    endLine: z
      .int()
      .min(1)
      .max(10_000_000)
      .optional()
      .meta({ description: "the last line that it is about, if it is about several; `line` is the first" }),
    suggestion: z.string().max(SUGGESTION_CHARS).optional().meta({
      description: "the text that should replace these lines, as it is; empty if they should go",
    }),
  })
  .refine(({ line, endLine }) => endLine === undefined || (line !== undefined && endLine >= line), {
    path: ["endLine"],
    message: "expected a line that is not before `line`",
  })
  .refine(({ file, line, suggestion }) => suggestion === undefined || (file !== undefined && line !== undefined), {
    path: ["suggestion"],
    message: "expected the file and the line that it replaces, too",
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
  inPlace: z
    .literal(true)
    .optional()
    .meta({ description: "present if the answer reached the agent that asked while it worked" }),
  decided: z
    .object({ answer: z.string(), text: z.string(), by: z.string(), at: time })
    .optional()
    .meta({ description: "present if the same answer was given before; then nothing has changed" }),
});
