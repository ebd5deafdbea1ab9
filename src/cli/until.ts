// The flag `--until` as people type it.

import { durationMs } from "../core/flow/duration.ts";
import { usageError } from "./errors.ts";

/** A time of the day here, the next time it comes; `8h`; or a time in UTC. As ISO 8601; null for `none`. */
export function untilOf(text: string, now: Date): string | null {
  if (text === "none") return null;
  if (/^[1-9][0-9]{0,3}[mh]$/u.test(text)) return new Date(now.getTime() + durationMs(text)).toISOString();
  const [, hours, minutes] = /^([01]?[0-9]|2[0-3]):([0-5][0-9])$/u.exec(text) ?? [];
  if (hours !== undefined) return nextTimeOfDay(Number(hours), Number(minutes), now).toISOString();
  const at = /^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{5,12}Z$/u.test(text) ? Date.parse(text) : Number.NaN;
  if (at > now.getTime()) return new Date(at).toISOString();
  throw usageError(
    "until_invalid",
    `--until ${text}: expected a time to come: 07:00, 8h, 2026-01-31T06:00:00Z, or none.`,
  );
}

function nextTimeOfDay(hours: number, minutes: number, now: Date): Date {
  const at = new Date(now);
  at.setHours(hours, minutes, 0, 0);
  if (at <= now) at.setDate(at.getDate() + 1);
  return at;
}
