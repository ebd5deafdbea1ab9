// The table of routes: the contract between the server and whoever calls it. Every route names the one scope that opens it.

import { z } from "zod";
import { SPENDING_KEYS } from "../core/budget.ts";
import type { Route } from "./route.ts";
import { agentListSchema, flowDetailSchema, flowListSchema } from "./schemas/catalog.ts";
import {
  after,
  before,
  flowName,
  itemReference,
  limit,
  numberText,
  runReference,
  stageName,
} from "./schemas/common.ts";
import { costSchema } from "./schemas/cost.ts";
import { eventPageSchema } from "./schemas/event.ts";
import { answeredSchema, answerSchema, inboxItemSchema, inboxSchema } from "./schemas/inbox.ts";
import {
  ATTEMPT_FILES,
  controlledSchema,
  filePartSchema,
  nothingSchema,
  reasonSchema,
  retrySchema,
  runDetailSchema,
  runPageSchema,
  skipSchema,
  startedSchema,
  startRunSchema,
} from "./schemas/run.ts";
import { healthSchema, loginCodeSchema, sessionSchema, settingsSchema } from "./schemas/system.ts";

const json = <S extends z.ZodType>(schema: S, description: string, status: 200 | 201 = 200) =>
  ({ status, description, type: "application/json", schema }) as const;

const run = z.strictObject({ run: runReference });
const item = z.strictObject({ item: itemReference });
const none = z.strictObject({});
const FILE_PART = 256 * 1024;

/** A person takes a run in hand. */
const control = <B extends z.ZodType>(verb: string, summary: string, body: B) =>
  ({
    method: "post",
    path: `/api/runs/{run}/${verb}`,
    scope: "operate",
    tag: "runs",
    summary,
    params: run,
    body,
    headers: ["Idempotency-Key"],
    answer: json(controlledSchema, "the run afterwards"),
    problems: ["run_not_found", "run_ended", "action_refused", "reason_required", "idempotency_key_reused"],
  }) as const;

export const ROUTES = {
  listRuns: {
    method: "get",
    path: "/api/runs",
    scope: "read",
    tag: "runs",
    summary: "Runs, newest first",
    query: z.strictObject({
      status: z.string().max(80).optional().meta({ description: "a canonical status or the source's word" }),
      flow: flowName.optional(),
      limit,
      before: before.optional(),
    }),
    answer: json(runPageSchema, "one page"),
    problems: ["invalid_query", "invalid_cursor"],
  },
  startRun: {
    method: "post",
    path: "/api/runs",
    scope: "operate",
    tag: "runs",
    summary: "Start a run",
    body: startRunSchema,
    headers: ["Idempotency-Key"],
    answer: json(startedSchema, "the run that was started", 201),
    problems: ["unknown_flow", "flow_invalid", "invalid_title", "run_refused", "idempotency_key_reused"],
  },
  showRun: {
    method: "get",
    path: "/api/runs/{run}",
    scope: "own-run",
    tag: "runs",
    summary: "One run with its stages, attempts, open items and handoffs",
    params: run,
    answer: json(runDetailSchema, "the run"),
    problems: ["run_not_found"],
  },
  runEvents: {
    method: "get",
    path: "/api/runs/{run}/events",
    scope: "read",
    tag: "runs",
    summary: "What happened to a run, oldest first",
    params: run,
    query: z.strictObject({ limit, after: after.default(0) }),
    answer: json(eventPageSchema, "one page"),
    problems: ["run_not_found", "invalid_query", "invalid_cursor"],
  },
  attemptFile: {
    method: "get",
    path: "/api/runs/{run}/attempts/{stage}/{attempt}/{file}",
    scope: "read",
    tag: "runs",
    summary: "A part of a file of an attempt: prompt, output, events, diff, verdict, handoff",
    params: z.strictObject({
      run: runReference,
      stage: stageName,
      attempt: numberText(1, 1_000_000, "expected the number of an attempt"),
      file: z.enum(ATTEMPT_FILES),
    }),
    query: z.strictObject({
      offset: numberText(0, 2 ** 40, "expected bytes from the start").default(0),
      limit: numberText(1, FILE_PART, `expected 1 to ${FILE_PART} bytes`).default(FILE_PART),
    }),
    answer: json(filePartSchema, "the part, cut at a whole character"),
    problems: ["run_not_found", "attempt_not_found", "file_not_found", "invalid_query"],
  },
  cancelRun: control("cancel", "End a run", reasonSchema),
  pauseRun: control("pause", "Let nothing more of a run start", reasonSchema),
  resumeRun: control("resume", "Go on with a paused run", nothingSchema),
  retryStage: control("retry", "Make a stage work again", retrySchema),
  skipStage: control("skip", "Leave a stage out; a gate cannot be left out", skipSchema),
  listInbox: {
    method: "get",
    path: "/api/inbox",
    scope: "read",
    tag: "inbox",
    summary: "What waits for a person, oldest first",
    answer: json(inboxSchema, "all of it"),
    problems: [],
  },
  showItem: {
    method: "get",
    path: "/api/inbox/{item}",
    scope: "read",
    tag: "inbox",
    summary: "One item that waits; its version is also the ETag",
    params: item,
    answer: json(inboxItemSchema, "the item"),
    problems: ["run_not_found", "item_not_found", "item_not_waiting"],
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
    answer: json(answeredSchema, "what the answer led to"),
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
  listFlows: {
    method: "get",
    path: "/api/flows",
    scope: "read",
    tag: "catalog",
    summary: "Flows that can be started",
    answer: json(flowListSchema, "all of them"),
    problems: [],
  },
  showFlow: {
    method: "get",
    path: "/api/flows/{flow}",
    scope: "read",
    tag: "catalog",
    summary: "One flow with its stages",
    params: z.strictObject({ flow: flowName }),
    answer: json(flowDetailSchema, "the flow"),
    problems: ["flow_not_found", "flow_invalid"],
  },
  listAgents: {
    method: "get",
    path: "/api/agents",
    scope: "read",
    tag: "catalog",
    summary: "Agents: roles with a prompt",
    answer: json(agentListSchema, "all of them"),
    problems: [],
  },
  cost: {
    method: "get",
    path: "/api/cost",
    scope: "read",
    tag: "cost",
    summary: "What attempts have used",
    query: z.strictObject({
      by: z.enum(SPENDING_KEYS).default("agent"),
      since: z.iso.datetime().or(z.iso.date()).optional(),
      run: runReference.optional(),
    }),
    answer: json(costSchema, "rows, the most expensive first"),
    problems: ["run_not_found", "invalid_query"],
  },
  health: {
    method: "get",
    path: "/api/health",
    scope: "read",
    tag: "system",
    summary: "Whether the daemon and its store are well",
    answer: json(healthSchema, "how it is"),
    problems: [],
  },
  settings: {
    method: "get",
    path: "/api/settings",
    scope: "read",
    tag: "system",
    summary: "Settings in force and where each came from",
    answer: json(settingsSchema, "all of them"),
    problems: [],
  },
  createLoginCode: {
    method: "post",
    path: "/api/login-codes",
    scope: "operate",
    tag: "system",
    summary: "A code for one login of a browser, good for a minute",
    body: none,
    answer: json(loginCodeSchema, "the code", 201),
    problems: [],
  },
  createSession: {
    method: "post",
    path: "/api/sessions",
    scope: "login",
    tag: "system",
    summary: "Turn a login code, given as the Bearer token, into a token for a session",
    body: none,
    answer: json(sessionSchema, "the session", 201),
    problems: ["too_many_logins"],
  },
  openapi: {
    method: "get",
    path: "/api/openapi.json",
    scope: "read",
    tag: "system",
    summary: "This contract as OpenAPI 3.1",
    answer: json(z.looseObject({ openapi: z.string() }), "the document"),
    problems: [],
  },
  docs: {
    method: "get",
    path: "/docs",
    scope: "read",
    tag: "system",
    summary: "This contract as a page to read",
    answer: { status: 200, description: "the page", type: "text/html" },
    problems: [],
  },
} as const satisfies Readonly<Record<string, Route>>;

export type RouteName = keyof typeof ROUTES;
