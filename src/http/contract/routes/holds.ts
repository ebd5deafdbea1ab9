// Runners that are over a limit: look at them, and say that one works again.

import { json, type ApiRoutes } from "../route.ts";
import { holdListSchema, liftedHoldSchema, liftHoldSchema } from "../schemas/hold.ts";

export const HOLD_ROUTES = {
  listHolds: {
    method: "get",
    path: "/api/holds",
    scope: "read",
    tag: "system",
    summary: "Runners that are over a limit of their vendor: since when, until when, and how many runs wait",
    answer: json(holdListSchema, "those that hold now"),
    problems: [],
  },
  liftHold: {
    method: "post",
    path: "/api/holds/lift",
    scope: "operate",
    tag: "system",
    summary: "Say that a runner works again: runs that wait for it may start",
    body: liftHoldSchema,
    headers: ["Idempotency-Key"],
    answer: json(liftedHoldSchema, "the hold is lifted"),
    problems: ["hold_not_found", "idempotency_key_reused"],
  },
} as const satisfies ApiRoutes;
