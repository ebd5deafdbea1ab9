// The inbox and the answers to its items.

import { z } from "zod";
import { json, type ApiRoutes } from "../route.ts";
import { itemReference, limit } from "../schemas/common.ts";
import { nightReportSchema } from "../schemas/night-report.ts";
import { answeredSchema, answerSchema, decisionsSchema, inboxSchema, itemDetailSchema } from "../schemas/inbox.ts";

const item = z.strictObject({ item: itemReference });

export const INBOX_ROUTES = {
  listInbox: {
    method: "get",
    path: "/api/inbox",
    scope: "read",
    tag: "inbox",
    summary: "Everything that waits for a person, oldest first: items to answer, and loose ends",
    answer: json(inboxSchema, "all of it"),
    problems: [],
  },
  report: {
    method: "get",
    path: "/api/report",
    scope: "read",
    tag: "inbox",
    summary: "What landed since a time, what waits, failed, could not start or is not finished, and the cost",
    query: z.strictObject({
      since: z.iso.datetime({ error: "expected a time such as 2026-01-31T12:00:00Z" }),
    }),
    answer: json(nightReportSchema, "every ticket once"),
    problems: ["invalid_query"],
  },
  listDecisions: {
    method: "get",
    path: "/api/decisions",
    scope: "read",
    tag: "inbox",
    summary: "Decisions of people since a time, newest first",
    query: z.strictObject({
      since: z.iso.datetime({ error: "expected a time such as 2026-01-31T12:00:00Z" }),
      limit,
    }),
    answer: json(decisionsSchema, "as far back as is looked at"),
    problems: ["invalid_query"],
  },
  showItem: {
    method: "get",
    path: "/api/inbox/{item}",
    scope: "read",
    tag: "inbox",
    summary: "One waiting item with its evidence; its version is also the ETag",
    params: item,
    answer: json(itemDetailSchema, "the item"),
    problems: ["run_not_found", "item_not_found", "gate_not_waiting", "item_not_waiting"],
  },
  answerItem: {
    method: "post",
    path: "/api/inbox/{item}/answer",
    scope: "operate",
    tag: "inbox",
    summary: "Answer a gate, a question, a choice, an escalation or a reached budget",
    params: item,
    body: answerSchema,
    headers: ["Idempotency-Key", "If-Match"],
    answer: json(answeredSchema, "the result of the answer"),
    problems: [
      "run_not_found",
      "item_not_found",
      "gate_not_waiting",
      "item_not_waiting",
      "answer_unknown",
      "answer_empty",
      "amount_invalid",
      "reason_required",
      "reason_too_long",
      "version_required",
      "version_mismatch",
      "idempotency_key_reused",
    ],
  },
} as const satisfies ApiRoutes;
