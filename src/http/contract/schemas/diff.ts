// The changes of a run, and the files of it that a person has viewed.

import { z } from "zod";
import { time } from "./common.ts";

/** As in a diff of git: not empty, and without a NUL, which no path has. */
export const filePath = z
  .string()
  .min(1)
  .max(4000)
  .refine((path) => !path.includes("\0"), "expected the path of a file");

const viewedFileSchema = z
  .object({
    path: z.string(),
    version: z.string().meta({ description: "the object id of its text, as in the diff's line `index`" }),
  })
  .meta({ id: "ViewedFile" });

export const markViewedSchema = z
  .strictObject({
    path: filePath,
    version: z.string().regex(/^[0-9a-z.-]{1,80}$/, "expected the file's object id as in the diff"),
    isViewed: z.boolean(),
  })
  .meta({ id: "MarkViewed" });

export const viewedSchema = z.object({ viewed: z.array(viewedFileSchema) });

export const runDiffSchema = z
  .object({
    stage: z.string().nullable().meta({ description: "the stage of the attempt; null if none has a diff" }),
    attempt: z.int().nullable(),
    commits: z
      .object({ from: z.string(), to: z.string() })
      .nullable()
      .meta({ description: "the two compared commits of a whole run; null without a commit" }),
    size: z.int().meta({ description: "bytes of the whole diff" }),
    text: z.string(),
    isCut: z.boolean().meta({ description: "there is more; ask for more, or read the attempt's file `diff` in parts" }),
    files: z.array(
      z.object({ path: z.string(), added: z.int(), removed: z.int(), isBinary: z.boolean() }).meta({ id: "FileStat" }),
    ),
    added: z.int(),
    removed: z.int(),
    isStatCut: z.boolean().meta({ description: "the numbers cover only a part" }),
    reviewed: z.object({ commit: z.string(), at: time }).nullable().meta({
      description: "what the caller looked at when they last decided about this run; null if there is no such",
    }),
    viewed: z.array(viewedFileSchema).meta({ description: "the files that the caller marked as viewed in this run" }),
  })
  .meta({ id: "RunDiff" });
