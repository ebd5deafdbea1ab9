// The finished work of a run: land it, propose it, discard it, or say that it is merged.

import { z } from "zod";
import { json, type ApiRoutes } from "../route.ts";
import { runReference } from "../schemas/common.ts";
import {
  confirmedMergeSchema,
  confirmMergeSchema,
  discardedSchema,
  landingSchema,
  mergeRunSchema,
} from "../schemas/landing.ts";
import { nothingSchema } from "../schemas/run.ts";

const params = z.strictObject({ run: runReference });

export const LANDING_ROUTES = {
  mergeRun: {
    method: "post",
    path: "/api/runs/{run}/merge",
    scope: "operate",
    tag: "runs",
    summary:
      "Land the work of a completed run in the target branch, or open a pull request for it, as a run of the flow `land`",
    params,
    body: mergeRunSchema,
    headers: ["Idempotency-Key"],
    answer: json(landingSchema, "the run that lands it"),
    problems: ["run_not_found", "action_refused", "run_refused", "idempotency_key_reused"],
  },
  discardRun: {
    method: "post",
    path: "/api/runs/{run}/discard",
    scope: "operate",
    tag: "runs",
    summary: "Remove the branch of a run that has ended; its commits stay under a ref",
    params,
    body: nothingSchema,
    headers: ["Idempotency-Key"],
    answer: json(discardedSchema, "the branch is removed"),
    problems: ["run_not_found", "action_refused", "idempotency_key_reused"],
  },
  confirmMerge: {
    method: "post",
    path: "/api/runs/{run}/merged",
    scope: "operate",
    tag: "runs",
    summary: "Say that the work a run waits for is merged; it is looked for first",
    params,
    body: confirmMergeSchema,
    headers: ["Idempotency-Key"],
    answer: json(confirmedMergeSchema, "the run afterwards"),
    problems: ["run_not_found", "action_refused", "idempotency_key_reused"],
  },
} as const satisfies ApiRoutes;
