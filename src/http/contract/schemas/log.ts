// Search results in an attempt's files.

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
