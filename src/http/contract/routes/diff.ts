// The changes of a run, and the files of it that a person has viewed.

import { z } from "zod";
import { json, type ApiRoutes } from "../route.ts";
import { numberText, runReference } from "../schemas/common.ts";
import { filePath, markViewedSchema, runDiffSchema, viewedSchema } from "../schemas/diff.ts";

const DIFF_PART = 4 * 1024 * 1024;
const CONTEXT_AT_MOST = 1_000_000;

export const DIFF_ROUTES = {
  runDiff: {
    method: "get",
    path: "/api/runs/{run}/diff",
    scope: "read",
    tag: "runs",
    summary:
      "Changes of a run: the diff of the last attempt that has one, of all its commits, or of those since your last decision, with numbers per file",
    params: z.strictObject({ run: runReference }),
    query: z.strictObject({
      of: z.enum(["last", "run", "review"]).default("last").meta({
        description:
          "the last attempt with a diff; everything from the run's first commit to its branch now; or what changed since you last decided about this run, and everything if you never did",
      }),
      limit: numberText(1, DIFF_PART, `expected 1 to ${DIFF_PART} bytes`).default(256 * 1024),
      spaces: z.enum(["shown", "ignored"]).default("shown").meta({
        description: "whether lines that differ only in white space count as changed; for `run` and `review`",
      }),
      path: filePath.optional().meta({ description: "only this file; for `run` and `review`" }),
      oldPath: filePath.optional().meta({ description: "its name before, if it was moved" }),
      context: numberText(0, CONTEXT_AT_MOST, `expected 0 to ${CONTEXT_AT_MOST} lines`)
        .optional()
        .meta({ description: "unchanged lines around each change; for `run` and `review`" }),
    }),
    answer: json(runDiffSchema, "the diff, cut where it is large"),
    problems: ["run_not_found", "invalid_query"],
  },
  markViewed: {
    method: "post",
    path: "/api/runs/{run}/viewed",
    scope: "operate",
    tag: "runs",
    summary: "Mark a file of a run's changes as viewed by you, in one version, or take the mark back",
    params: z.strictObject({ run: runReference }),
    body: markViewedSchema,
    headers: ["Idempotency-Key"],
    answer: json(viewedSchema, "the files of this run that you have viewed"),
    problems: ["run_not_found", "idempotency_key_reused"],
  },
} as const satisfies ApiRoutes;
