// What the headers of an answer tell of the account's limits: how far each window is used, and when a vendor that refuses answers again.

import type { IncomingHttpHeaders } from "node:http";
import type { LimitUse } from "../core/run/limit-use.ts";
import { epochTime, resetTime } from "../runner/reset-time.ts";
import type { Failure } from "../runner/runner.ts";
import { limitKind, LONGEST_SLEEP_MS } from "../runner/vendor-limit.ts";

export function limitUses(headers: IncomingHttpHeaders, nowMs: number): readonly LimitUse[] {
  const value = (name: string): string => String(headers[name] ?? "").slice(0, 100);
  return [...unified(headers, value), ...codexWindows(value, nowMs), ...counted(value, nowMs)].slice(0, 10);
}

type Value = (name: string) => string;

/** Anthropic: `anthropic-ratelimit-unified-5h-utilization: 0.42`. */
function unified(headers: IncomingHttpHeaders, value: Value): readonly LimitUse[] {
  return Object.keys(headers).flatMap((name) => {
    const window = /^anthropic-ratelimit-unified-([a-z0-9_]{1,30})-utilization$/u.exec(name)?.[1];
    const share = window === undefined ? null : numberOf(value(name));
    if (window === undefined || share === null) return [];
    const end = numberOf(value(`anthropic-ratelimit-unified-${window}-reset`));
    return [{ window: window.replaceAll("_", " "), share, resetsAt: epochTime(end) }];
  });
}

/** A ChatGPT plan behind its own address. */
function codexWindows(value: Value, nowMs: number): readonly LimitUse[] {
  return ["primary", "secondary"].flatMap((name) => {
    const percent = numberOf(value(`x-codex-${name}-used-percent`));
    if (percent === null) return [];
    const after = numberOf(value(`x-codex-${name}-reset-after-seconds`));
    const at = epochTime(numberOf(value(`x-codex-${name}-reset-at`)));
    return [{ window: name, share: percent / 100, resetsAt: at ?? inSeconds(after, nowMs) }];
  });
}

/** OpenAI and those who speak like it: limit, remaining, and the time until all of it is there again. */
function counted(value: Value, nowMs: number): readonly LimitUse[] {
  const kinds = ["requests", "tokens"] as const;
  const families = ["x-ratelimit", "anthropic-ratelimit"] as const;
  return families.flatMap((family) =>
    kinds.flatMap((kind) => {
      const name = (what: string): string =>
        family === "x-ratelimit" ? `${family}-${what}-${kind}` : `${family}-${kind}-${what}`;
      const [limit, left] = [numberOf(value(name("limit"))), numberOf(value(name("remaining")))];
      if (limit === null || left === null || limit <= 0) return [];
      const resetsAt = timeOf(value(name("reset")), nowMs);
      return [{ window: `${kind} per minute`, share: Math.max(0, 1 - left / limit), resetsAt }];
    }),
  );
}

/** A refusal that a program should not sleep through; undefined where it may simply ask again. */
export function limitFailure(headers: IncomingHttpHeaders, body: string, nowMs: number): Failure | undefined {
  const after = (headers["retry-after"] ?? "").slice(0, 100);
  const told =
    epochTime(numberOf(String(headers["anthropic-ratelimit-unified-reset"] ?? ""))) ??
    (after === "" ? null : timeOf(after, nowMs)) ??
    resetTime(body.slice(0, 4000), nowMs);
  if (told === null || Date.parse(told) - nowMs <= LONGEST_SLEEP_MS) return undefined;
  const kind = limitKind("rate_limit", told, nowMs);
  return { kind, message: `The vendor answers no requests until ${told} (429, seen at the gateway).`, resetsAt: told };
}

const UNITS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 };

/** `20`, `1s`, `6m0s`, a date. */
function timeOf(written: string, nowMs: number): string | null {
  const seconds = numberOf(written);
  if (seconds !== null) return inSeconds(seconds, nowMs);
  if (/^(?:\d{1,6}(?:\.\d{1,9})?(?:ms|s|m|h|d))+$/u.test(written)) {
    const parts = written.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/gu);
    const sum = [...parts].reduce((all, [, number, unit]) => all + Number(number) * (UNITS[unit ?? ""] ?? 0), 0);
    return inSeconds(sum, nowMs);
  }
  const ms = Date.parse(written);
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}

function inSeconds(seconds: number | null, nowMs: number): string | null {
  return seconds === null || seconds > 366 * 86_400 ? null : new Date(nowMs + seconds * 1000).toISOString();
}

function numberOf(written: string): number | null {
  return /^\d{1,15}(?:\.\d{1,15})?$/u.test(written) ? Number(written) : null;
}
