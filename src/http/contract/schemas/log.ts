// Search results in an attempt's files, and the changes of a run.

import { z } from "zod";
import { attemptFileSchema } from "./run.ts";

export const foundLinesSchema = z
  .object({
    file: attemptFileSchema,
    size: z.int().meta({ description: "bytes of the whole file" }),
    lines: z.array(
      z.object({
        line: z.int().meta({ description: "counted from 1" }),
        offset: z.int().meta({ description: "bytes before the first match in this line" }),
        text: z.string().meta({ description: "at most 500 characters; of a longer line the part with the match" }),
      }),
    ),
    next: z
      .string()
      .nullable()
      .meta({ description: "pass it as `after` to continue; null at the current end of the file" }),
  })
  .meta({ id: "FoundLines" });

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
  })
  .meta({ id: "RunDiff" });
