// The page Now, and a person's snoozed entries.

import { json, type ApiRoutes } from "../route.ts";
import { nowSchema, snoozedListSchema, snoozeSchema } from "../schemas/now.ts";

export const NOW_ROUTES = {
  showNow: {
    method: "get",
    path: "/api/now",
    scope: "read",
    tag: "inbox",
    summary: "What works now with its last line, what comes next and why it waits, and what today has cost",
    answer: json(nowSchema, "one look"),
    problems: [],
  },
  snoozeEntry: {
    method: "post",
    path: "/api/now/snooze",
    scope: "operate",
    tag: "inbox",
    summary: "Hide an entry of the inbox from yourself until a time; it still waits",
    body: snoozeSchema,
    headers: ["Idempotency-Key"],
    answer: json(snoozedListSchema, "what you hide now"),
    problems: ["idempotency_key_reused"],
  },
} as const satisfies ApiRoutes;
