// Trust in the files by which the project decides what runs.

import { json, type ApiRoutes } from "../route.ts";
import { approveTrustSchema, revokeTrustSchema, trustSchema } from "../schemas/trust.ts";

export const TRUST_ROUTES = {
  showTrust: {
    method: "get",
    path: "/api/trust",
    scope: "operate",
    tag: "trust",
    summary: "The project's files that decide what runs: approved, changed or new, with the differences",
    answer: json(trustSchema, "the files and what they do"),
    problems: ["trust_refused"],
  },
  approveTrust: {
    method: "post",
    path: "/api/trust",
    scope: "operate",
    tag: "trust",
    summary: "Approve the version of these files that was looked at",
    body: approveTrustSchema,
    headers: ["Idempotency-Key"],
    answer: json(trustSchema, "the files after it"),
    problems: ["trust_changed", "trust_refused", "idempotency_key_reused"],
  },
  revokeTrust: {
    method: "post",
    path: "/api/trust/revoke",
    scope: "operate",
    tag: "trust",
    summary: "Withdraw the approval: nothing new starts before the files are approved again",
    body: revokeTrustSchema,
    headers: ["Idempotency-Key"],
    answer: json(trustSchema, "the files after it; the same if nothing was approved"),
    problems: ["trust_changed", "trust_refused", "idempotency_key_reused"],
  },
} as const satisfies ApiRoutes;
