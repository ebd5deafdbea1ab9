// Starting and stopping stories as a whole, reports of agents without a handoff, and work for outside agents.

import { z } from "zod";
import { HEALTHS, VERDICTS } from "../../../core/flow/outcome.ts";
import { flowName, line, stageName, subject, TEXT_CHARS, time } from "./common.ts";
import { agentName, storyId } from "./handoff-action.ts";
import { runSummarySchema } from "./run.ts";

const STORY_ACTIONS = ["start", "continue", "stop", "reset"] as const;
const SIGNAL_ACTIONS = ["complete", "blocked", "progress"] as const;

const MESSAGE_CHARS = 10_000;
const TITLE = "expected 1 to 200 characters, not only spaces, no control characters";

export const storyActionSchema = z
  .strictObject({
    action: z.enum(STORY_ACTIONS, `expected one of ${STORY_ACTIONS.join(", ")}`),
    storyId: storyId.optional().meta({ description: "default: all stories" }),
    title: line(200, TITLE).optional().meta({ description: "for the first start of a story" }),
    body: z.string().max(TEXT_CHARS).optional(),
    flow: flowName.optional().meta({ description: "required only if several flows have handoffs" }),
  })
  .meta({ id: "StoryAction" });

const storySchema = z
  .object({
    storyId: z.string(),
    run: z.string(),
    flow: z.string(),
    status: z.enum(["running", "waiting", "stopped", "completed", "canceled"]),
    paused: z.boolean(),
    currentAgent: z.string().nullable(),
    phase: z.string().nullable(),
  })
  .meta({ id: "Story" });

export const storiesSchema = z.object({
  running: z.boolean().meta({ description: "whether any story is active without a person" }),
  stories: z.array(storySchema).meta({ description: "open ones, oldest first" }),
});

export const storyActedSchema = z.object({
  success: z.literal(true),
  stories: z.array(storySchema).meta({ description: "those that changed" }),
  timedOutHandoffs: z.int(),
  clearedHandoffs: z.int(),
});

export const storySignalSchema = z
  .strictObject({
    storyId,
    action: z.enum(SIGNAL_ACTIONS, `expected one of ${SIGNAL_ACTIONS.join(", ")}`),
    message: z.string().max(MESSAGE_CHARS).optional(),
    prUrl: z
      .url({ protocol: /^https?$/, error: "expected an http or https address" })
      .max(2000)
      .optional(),
  })
  .meta({ id: "StorySignal" });

export const storySignaledSchema = z.object({
  success: z.literal(true),
  story: storySchema,
  inbox: z.string().nullable().meta({ description: "the item that the story waits for now" }),
});

export const storyDeletedSchema = z.object({
  success: z.literal(true),
  runs: z.array(z.string()).meta({ description: "the runs that are gone" }),
});

/** The rules of the verdict file, which know the flow, read the verdict; this schema checks only the fields around it. */
export const verdictSchema = z
  .looseObject({ stage: stageName.optional().meta({ description: "required if several stages are running" }) })
  .meta({ id: "Verdict" });

export const verdictTakenSchema = z.object({
  run: runSummarySchema,
  stage: z.string(),
  attempt: z.int(),
  health: z.enum(HEALTHS),
  verdict: z.enum(VERDICTS).nullable(),
  word: z.string().nullable(),
  warnings: z.array(z.string()),
});

const workSchema = z.object({
  run: z.string(),
  stage: z.string(),
  attempt: z.int(),
  agent: z.string(),
  flow: z.string(),
  subject,
  since: time,
  handoffId: z.int().nullable(),
});

export const workListSchema = z.object({ work: z.array(workSchema).meta({ description: "oldest first" }) });
export const workQuerySchema = z.strictObject({ agent: agentName.optional() });

export const workStartedSchema = z.object({
  ...workSchema.omit({ since: true }).shape,
  prompt: z.string(),
  project: z.string(),
  branch: z.string(),
});
