// Search in the files of attempts, without fetching them.

import { z } from "zod";
import { json, type ApiRoutes } from "../route.ts";
import { limit, numberText, runReference, stageName } from "../schemas/common.ts";
import { foundLinesSchema } from "../schemas/log.ts";
import { attemptFileSchema } from "../schemas/run.ts";

const TEXT = "expected 1 to 200 characters of one line";

export const LOG_ROUTES = {
  searchFile: {
    method: "get",
    path: "/api/runs/{run}/attempts/{stage}/{attempt}/{file}/search",
    scope: "read",
    tag: "runs",
    summary: "Lines of an attempt's file that contain a text; plain text, case-sensitive",
    params: z.strictObject({
      run: runReference,
      stage: stageName,
      attempt: numberText(1, 1_000_000, "expected the number of an attempt"),
      file: attemptFileSchema,
    }),
    query: z.strictObject({
      q: z
        .string()
        .min(1, TEXT)
        .max(200, TEXT)
        .refine((text) => !/[\r\n\0]/.test(text), TEXT),
      limit,
      after: z
        .string()
        .regex(/^[0-9]{1,13}-[0-9]{1,13}$/, "expected the `next` of an earlier answer")
        .default("0-0"),
    }),
    answer: json(foundLinesSchema, "the lines found in one part of the file"),
    problems: ["run_not_found", "attempt_not_found", "file_not_found", "invalid_query", "invalid_cursor"],
  },
} as const satisfies ApiRoutes;
