// A schedule: cron with five or six fields, in a time zone. The next time is counted from the last one seen: times that passed while
// Passrail was down are due at once, as one run.

import { Cron } from "croner";
import type { Json } from "../core/json.ts";
import { err, messageOf, ok, type Result } from "../core/result.ts";
import type { ScheduleSettings } from "../settings/triggers.ts";
import type { Look, Occurrence, TriggerSource } from "./source.ts";
import { optional } from "../core/optional.ts";

/** Clocks are set and laptops sleep: never trust a long timer. */
const LOOK_AT_LEAST_MS = 30_000;

export function createSchedule({ name, schedule, timezone }: ScheduleSettings): Result<TriggerSource> {
  const cron = readCron(name, schedule, timezone);
  if (!cron.ok) return cron;
  const next = (after: Date): Date | null => cron.value.nextRun(after);
  return ok({
    kind: "schedule",
    about: timezone === undefined ? schedule : `${schedule} (${timezone})`,
    look: async (seen, now): Promise<Result<Look>> => {
      const last = lastOf(seen);
      if (last === undefined) return ok({ occurrence: null, seen: { last: now.toISOString() }, againMs: 0 });
      const due = next(last);
      if (due === null) return ok({ occurrence: null, seen, againMs: LOOK_AT_LEAST_MS });
      const waitMs = due.getTime() - now.getTime();
      if (waitMs > 0) return ok({ occurrence: null, seen, againMs: Math.min(waitMs, LOOK_AT_LEAST_MS) });
      return ok({ occurrence: occurrenceAt(due), seen: { last: now.toISOString() }, againMs: 0 });
    },
    byHand: async (now) => ok(occurrenceAt(now)),
    explain: async (seen, now) => {
      const due = next(lastOf(seen) ?? now);
      const missed =
        due !== null && due <= now ? [`missed while nothing ran: ${due.toISOString()}; it starts once`] : [];
      return ok([...missed, ...cron.value.nextRuns(3, now).map((time) => `next: ${time.toISOString()}`)]);
    },
  });
}

function occurrenceAt(time: Date): Occurrence {
  const at = time.toISOString();
  return {
    id: at,
    mark: at.replace(/[-:]|\.\d+/gu, "").toLowerCase(),
    title: `{name} at {time}`,
    body: "",
    values: { time: at },
    facts: { time: at },
  };
}

function lastOf(seen: Json | null): Date | undefined {
  const said = seen !== null && typeof seen === "object" && "last" in seen ? seen["last"] : "";
  const last = typeof said === "string" ? Date.parse(said) : Number.NaN;
  return Number.isNaN(last) ? undefined : new Date(last);
}

function readCron(name: string, schedule: string, timezone: string | undefined): Result<Cron> {
  try {
    const options = { paused: true, mode: "5-or-6-parts", ...optional({ timezone }) } as const;
    const cron = new Cron(schedule, options);
    if (cron.nextRun() !== null) return ok(cron);
    return err(bad(name, schedule, "there is no such time"));
  } catch (error) {
    const zone = timezone === undefined ? "" : `, time zone ${timezone}`;
    return err(bad(name, schedule, `${messageOf(error)}${zone}`));
  }
}

function bad(name: string, schedule: string, why: string) {
  return {
    code: "trigger_invalid",
    message: `The trigger ${name} has a schedule that cannot be read: "${schedule}" (${why}).`,
    hint: 'Five fields: minute hour day month weekday, such as "0 9 * * 1". docs/triggers.md',
  };
}
