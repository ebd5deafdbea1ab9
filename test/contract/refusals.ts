// How each vendor refuses a request when an account is over its limit, and how one says that it is near.

import type { Turn } from "../fixtures/models/scenario.ts";

type Refusal = NonNullable<Turn["fail"]>;

const secondsFromNow = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;

/** The limit of a Claude plan. A program that is logged in with a key is not told. */
export function claudePlan(seconds: number): Refusal {
  return {
    status: 429,
    headers: {
      "anthropic-ratelimit-unified-status": "rejected",
      "anthropic-ratelimit-unified-representative-claim": "five_hour",
      "anthropic-ratelimit-unified-reset": String(secondsFromNow(seconds)),
    },
  };
}

/** The limit of a ChatGPT plan. */
export function chatgptPlan(seconds: number): Refusal {
  const error = {
    type: "usage_limit_reached",
    message: "The usage limit has been reached",
    plan_type: "plus",
    resets_at: secondsFromNow(seconds),
  };
  return { status: 429, body: { error } };
}

/** With every answer: how far the windows of a ChatGPT plan are used. */
export function chatgptUse(percent: number, seconds: number): Readonly<Record<string, string>> {
  return {
    "x-codex-primary-used-percent": String(percent),
    "x-codex-primary-window-minutes": "300",
    "x-codex-primary-reset-at": String(secondsFromNow(seconds)),
  };
}

/** How Google refuses a request. */
export function googleQuota(seconds: number): Refusal {
  const message = "You exceeded your current quota, please check your plan and billing details.";
  const quotaId = "GenerateRequestsPerMinutePerProjectPerModel-FreeTier";
  const details = [
    { "@type": "type.googleapis.com/google.rpc.QuotaFailure", violations: [{ quotaId }] },
    { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: `${seconds}s` },
  ];
  return { status: 429, body: { error: { code: 429, message, status: "RESOURCE_EXHAUSTED", details } } };
}

/** A provider that says it in its message, as most do. */
export function inWords(seconds: number): Refusal {
  const message = `Rate limit reached for this model. Please try again in ${seconds}s.`;
  return { status: 429, message, headers: { "retry-after": String(seconds) } };
}
