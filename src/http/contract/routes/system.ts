// The daemon itself: health, settings, logins, and this contract as documents.

import { z } from "zod";
import { json, type ApiRoutes } from "../route.ts";
import {
  editedSettingSchema,
  editSettingSchema,
  healthSchema,
  loginCodeSchema,
  newLoginCodeSchema,
  sessionSchema,
  settingsSchema,
} from "../schemas/system.ts";

const none = z.strictObject({});

export const SYSTEM_ROUTES = {
  health: {
    method: "get",
    path: "/api/health",
    scope: "read",
    tag: "system",
    summary: "Health of the daemon and its store",
    answer: json(healthSchema, "how it is"),
    problems: [],
  },
  metrics: {
    method: "get",
    path: "/metrics",
    scope: "read",
    tag: "system",
    summary: "Numbers about this daemon in Prometheus' text format, without titles and paths",
    answer: { status: 200, description: "the metrics", type: "text/plain" },
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
  editSetting: {
    method: "post",
    path: "/api/settings",
    scope: "operate",
    tag: "system",
    summary: "Change one setting in the user's or the project's file; without `version` it only shows the diff",
    body: editSettingSchema,
    headers: ["Idempotency-Key"],
    answer: json(editedSettingSchema, "the diff, and whether it was written"),
    problems: ["settings_changed", "settings_refused", "idempotency_key_reused"],
  },
  createLoginCode: {
    method: "post",
    path: "/api/login-codes",
    scope: "operate",
    tag: "system",
    summary: "A one-time code for the login of a browser, valid for a minute; for a device, valid for five",
    body: newLoginCodeSchema,
    headers: ["Idempotency-Key"],
    repeat: "secret",
    answer: json(loginCodeSchema, "the code", 201),
    problems: ["too_many_keys", "idempotency_key_reused", "idempotency_key_spent"],
  },
  createSession: {
    method: "post",
    path: "/api/sessions",
    scope: "login",
    tag: "system",
    summary: "Exchange a login code, given as the Bearer token, for a session token",
    body: none,
    headers: ["Idempotency-Key"],
    repeat: "secret",
    answer: json(sessionSchema, "the session", 201),
    problems: ["too_many_logins", "idempotency_key_reused", "idempotency_key_spent"],
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
} as const satisfies ApiRoutes;
