// Keys, sessions, and the audit log of their use.

import { z } from "zod";
import { json, type ApiRoutes } from "../route.ts";
import { before, limit } from "../schemas/common.ts";
import {
  AUDIT_TYPES,
  auditPageSchema,
  createdKeySchema,
  createKeySchema,
  endedSessionSchema,
  keyListSchema,
  revokedKeySchema,
  whoamiSchema,
} from "../schemas/key.ts";

export const KEY_ROUTES = {
  whoami: {
    method: "get",
    path: "/api/whoami",
    scope: "read",
    tag: "keys",
    summary: "The holder of the token and its rights",
    answer: json(whoamiSchema, "the caller"),
    problems: [],
  },
  listKeys: {
    method: "get",
    path: "/api/keys",
    scope: "operate",
    tag: "keys",
    summary: "Keys, without their tokens",
    answer: json(keyListSchema, "all of them"),
    problems: [],
  },
  createKey: {
    method: "post",
    path: "/api/keys",
    scope: "operate",
    tag: "keys",
    summary: "Make a key; its token is shown once and never kept, so a repeat with the same Idempotency-Key is refused",
    body: createKeySchema,
    headers: ["Idempotency-Key"],
    repeat: "secret",
    answer: json(createdKeySchema, "the key with its token", 201),
    problems: ["too_many_keys", "idempotency_key_reused", "idempotency_key_spent"],
  },
  revokeKey: {
    method: "delete",
    path: "/api/keys/{key}",
    scope: "operate",
    tag: "keys",
    summary: "Revoke a key; it is refused from then on",
    params: z.strictObject({ key: z.string().regex(/^k[0-9a-f]{8}$/, "expected a key's id, such as k0a1b2c3d") }),
    headers: ["Idempotency-Key"],
    answer: json(revokedKeySchema, "it is revoked"),
    problems: ["key_not_found", "idempotency_key_reused"],
  },
  endSession: {
    method: "delete",
    path: "/api/sessions/current",
    scope: "operate",
    tag: "keys",
    summary: "Log out: end the session of this token",
    headers: ["Idempotency-Key"],
    answer: json(endedSessionSchema, "it has ended"),
    problems: ["session_not_found", "idempotency_key_reused"],
  },
  listAudit: {
    method: "get",
    path: "/api/audit",
    scope: "operate",
    tag: "keys",
    summary: "Acts and refusals, newest first; decisions themselves are events of their runs",
    query: z.strictObject({ limit, before: before.optional(), type: z.enum(AUDIT_TYPES).optional() }),
    answer: json(auditPageSchema, "one page"),
    problems: ["invalid_query", "invalid_cursor"],
  },
} as const satisfies ApiRoutes;
