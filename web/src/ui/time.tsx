// Times, ages, durations and money in one format. An unknown value is a dash, never a zero.

import { type ReactNode, useEffect, useState } from "react";
import { tip } from "./tip.ts";

/** "3m ago", with the exact local time as its title; updates automatically. */
export function Ago({ at }: { readonly at: string }): ReactNode {
  const now = useNow(15_000);
  return (
    <time dateTime={at} {...tip(exact(at))} className="tabular whitespace-nowrap">
      {age(Math.max(0, now - Date.parse(at)))} ago
    </time>
  );
}

/** Counts up until `until` is known. */
export function Elapsed({
  since,
  until,
}: {
  readonly since: string;
  readonly until?: string | null | undefined;
}): ReactNode {
  const now = useNow(1000);
  const end = until === undefined || until === null ? now : Date.parse(until);
  return <span className="tabular whitespace-nowrap">{duration(Math.max(0, end - Date.parse(since)))}</span>;
}

export function useNow(everyMs: number): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}

export function duration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)}m ${seconds % 60}s`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3600)}h ${Math.floor((seconds % 3600) / 60)}m`;
  return `${Math.floor(seconds / 86_400)}d ${Math.floor((seconds % 86_400) / 3600)}h`;
}

/** How long ago, in one unit: the seconds of half an hour do not matter. */
function age(ms: number): string {
  const [first = ""] = duration(ms).split(" ");
  return first;
}

/** Local; with the date when it is not today. */
export function clock(at: string): string {
  const time = new Date(at);
  const isToday = time.toDateString() === new Date().toDateString();
  return time.toLocaleString(
    undefined,
    isToday ? { timeStyle: "medium" } : { dateStyle: "medium", timeStyle: "short" },
  );
}

/** Local, to the minute; with the date when it is not today. */
export function minute(at: string): string {
  const time = new Date(at);
  const isToday = time.toDateString() === new Date().toDateString();
  return time.toLocaleString(undefined, isToday ? { timeStyle: "short" } : { dateStyle: "medium", timeStyle: "short" });
}

function exact(at: string): string {
  return new Date(at).toLocaleString(undefined, { dateStyle: "full", timeStyle: "long" });
}

export function usd(value: number | null | undefined): string {
  if (value === null || value === undefined) return "—";
  return value > 0 && value < 0.01 ? "<$0.01" : `$${value.toFixed(2)}`;
}
