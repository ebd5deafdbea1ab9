// The numbers about this daemon for a monitoring system. Every number is a cheap read: a scrape every few seconds must not disturb the engine.

import { memoryUsage } from "node:process";
import { dayOf } from "../core/budget/budget.ts";
import type { Metric } from "../core/view/metrics.ts";
import type { Settings } from "../settings/settings.ts";
import type { Store } from "../store/store.ts";
import { listHolds } from "./holds.ts";
import { readDiskUse } from "./retention/disk-note.ts";
import { lookAtMirror } from "./status-mirror.ts";

export type MeasuredPlace = {
  readonly home: string;
  readonly store: Store;
  readonly config: Pick<Settings, "budgets" | "slots" | "statusMirror">;
  readonly version: string;
  readonly now: string;
  /** Attempts that work now. */
  readonly working: number;
};

export async function measureState(place: MeasuredPlace): Promise<readonly Metric[]> {
  const { config, now, store, version, working } = place;
  const [runs, inbox, events] = await Promise.all([store.countRuns(), store.inbox(), store.lastSeq()]);
  const kinds = new Map<string, number>();
  for (const { item } of inbox) kinds.set(item.kind, (kinds.get(item.kind) ?? 0) + 1);
  const oldest = inbox[0]?.item.openedAt;
  return [
    one("info", "The version of this daemon; the value is always 1.", 1, { version }),
    by("runs", "Runs by their state.", "status", Object.entries(runs)),
    by("inbox_items", "What waits for a person, by kind.", "kind", [...kinds]),
    one("inbox_oldest_seconds", "How long the oldest item of the inbox has waited.", secondsSince(oldest, now)),
    one("events_total", "Events that were stored.", events),
    one("attempts_working", "Attempts that work now in this daemon.", working),
    one("slots", "How many attempts may work at once.", config.slots.value),
    ...(await money(place)),
    ...(await holds(place)),
    ...(await mirror(place)),
    ...disk(place.home),
    one("memory_bytes", "Resident memory of this daemon.", memoryUsage.rss()),
  ];
}

async function money({ config, now, store }: MeasuredPlace): Promise<readonly Metric[]> {
  const keys = [{ scope: "day" as const, key: dayOf(now) }];
  const { keys: booked } = await store.booked({ keys, runId: "", stage: "", attempt: 0 });
  const day = booked[0] ?? { usd: 0, tokens: 0 };
  const { usd, tokens } = config.budgets.day;
  return [
    one("day_usd", "Dollars booked on this UTC day, reservations included.", day.usd),
    one("day_tokens", "Tokens booked on this UTC day, reservations included.", day.tokens),
    ...(usd === null ? [] : [one("day_budget_usd", "The day's budget in dollars.", usd)]),
    ...(tokens === null ? [] : [one("day_budget_tokens", "The day's budget in tokens.", tokens)]),
  ];
}

async function holds({ now, store }: MeasuredPlace): Promise<readonly Metric[]> {
  const held = await listHolds(store, now);
  return [
    {
      name: "runner_held",
      help: "1 for a program that is over a limit of its vendor.",
      samples: held.map(({ runner, cause }) => ({ value: 1, labels: { runner, cause } })),
    },
    {
      name: "runner_waiting_runs",
      help: "Runs that wait for a program that is over a limit.",
      samples: held.map(({ runner, waiting }) => ({ value: waiting, labels: { runner } })),
    },
  ];
}

async function mirror({ config, home, now, store }: MeasuredPlace): Promise<readonly Metric[]> {
  const found = await lookAtMirror(home, config, store);
  if (found === null) return [];
  return [
    one("mirror_behind_events", "Events that the status mirror has not written yet.", found.events),
    one(
      "mirror_behind_seconds",
      "How long the status mirror cannot be written.",
      secondsSince(found.behindSince ?? undefined, now),
    ),
  ];
}

function disk(home: string): readonly Metric[] {
  const use = readDiskUse(home);
  if (use === null) return [];
  const { measuredAt: _measuredAt, ...parts } = use;
  return [by("disk_bytes", "The size of the state folder, as last measured.", "part", Object.entries(parts))];
}

function one(name: string, help: string, value: number, labels: Readonly<Record<string, string>> = {}): Metric {
  return { name, help, samples: [{ value, labels }] };
}

function by(name: string, help: string, label: string, entries: readonly (readonly [string, number])[]): Metric {
  return { name, help, samples: entries.map(([key, value]) => ({ value, labels: { [label]: key } })) };
}

function secondsSince(at: string | undefined, now: string): number {
  return at === undefined ? 0 : Math.max(0, Math.round((Date.parse(now) - Date.parse(at)) / 1000));
}
