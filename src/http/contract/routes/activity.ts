// Activity of agents, for people who follow it.

import { z } from "zod";
import { json, type ApiRoutes } from "../route.ts";
import { limit, numberText, runReference, stageName } from "../schemas/common.ts";
import { activityPageSchema, foundActivitySchema } from "../schemas/activity.ts";

const PART = 512 * 1024;
const TEXT = "expected 1 to 200 characters of one line";
const bytes = numberText(0, 2 ** 40, "expected bytes from the start");

export const ACTIVITY_ROUTES = {
  attemptActivity: {
    method: "get",
    path: "/api/runs/{run}/attempts/{stage}/{attempt}/activity",
    scope: "read",
    tag: "runs",
    summary: "What an attempt's agent said and did: the end of it, or a part from or before a place",
    params: z.strictObject({
      run: runReference,
      stage: stageName,
      attempt: numberText(1, 1_000_000, "expected the number of an attempt"),
    }),
    query: z.strictObject({
      from: bytes.optional().meta({ description: "forwards from here; `to` of an earlier answer" }),
      before: bytes.optional().meta({ description: "the part that ends here; `from` of an earlier answer" }),
      limit: numberText(1024, PART, `expected 1024 to ${PART} bytes`).default(128 * 1024),
    }),
    answer: json(activityPageSchema, "whole events, in their order"),
    problems: ["run_not_found", "attempt_not_found", "invalid_query"],
  },
  searchActivity: {
    method: "get",
    path: "/api/runs/{run}/activity/search",
    scope: "read",
    tag: "runs",
    summary: "Where the agents of a run said or did something with this text, over all attempts, newest attempt first",
    params: z.strictObject({ run: runReference }),
    query: z.strictObject({
      q: z
        .string()
        .min(1, TEXT)
        .max(200, TEXT)
        .refine((text) => !/[\r\n\0]/.test(text), TEXT),
      limit,
      after: z
        .string()
        .regex(/^[0-9]{1,6}-[0-9]{1,13}$/, "expected the `next` of an earlier answer")
        .default("0-0"),
    }),
    answer: json(foundActivitySchema, "what was found in a bounded part of the files"),
    problems: ["run_not_found", "invalid_query"],
  },
} as const satisfies ApiRoutes;
