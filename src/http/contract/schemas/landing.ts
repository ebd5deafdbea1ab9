// A person's acts on the finished work of a run, on the wire.

import { z } from "zod";
import { REASON_CHARS } from "./common.ts";
import { runSummarySchema } from "./run.ts";

export const mergeRunSchema = z
  .strictObject({
    pullRequest: z
      .boolean()
      .default(false)
      .meta({ description: "open a pull request instead, and wait for its merge" }),
  })
  .meta({ id: "MergeRun" });

export const landingSchema = z
  .object({
    run: runSummarySchema.meta({ description: "the run of the flow `land` that lands the work" }),
    started: z.boolean().meta({ description: "false: that run was there already" }),
  })
  .meta({ id: "Landing" });

export const discardedSchema = z
  .object({
    branch: z.string().meta({ description: "the branch that was removed" }),
    commit: z.string(),
    keptAs: z.string().meta({ description: "the ref that keeps its commits" }),
    restore: z.string().meta({ description: "the command that brings the branch back" }),
  })
  .meta({ id: "Discarded" });

export const confirmMergeSchema = z
  .strictObject({
    commit: z
      .string()
      .regex(/^[0-9a-f]{7,64}$/u, "expected the id of a commit")
      .optional()
      .meta({ description: "the commit that holds the work, if it was squashed or rebased" }),
    unproven: z
      .string()
      .trim()
      .min(1)
      .max(REASON_CHARS)
      .optional()
      .meta({ description: "why it counts without proof; goes into the record" }),
  })
  .meta({ id: "ConfirmMerge" });

export const confirmedMergeSchema = z
  .object({ run: runSummarySchema, summary: z.string().meta({ description: "what was seen" }) })
  .meta({ id: "ConfirmedMerge" });
