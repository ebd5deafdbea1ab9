// Snoozed entries: a person hides an entry of the inbox until a time. Kept per person in the state folder, so that it is the
// same after a reload and on another device. It changes nothing about what waits: it only leaves the first view.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import type { Actor } from "../core/run/event.ts";
import { replacePrivate } from "../file/private-file.ts";

export type Snoozed = { readonly id: string; readonly until: string };

const MAX_BYTES = 4 * 1024 * 1024;
/** Of one person; the oldest go first. */
const AT_MOST = 500;

const fileSchema = z.record(z.string(), z.array(z.object({ id: z.string(), until: z.string() })));

/** Of one person, as long as the time has not come. A file that cannot be read hides nothing. */
export function listSnoozed(home: string, person: Actor, now: string): readonly Snoozed[] {
  return (read(home)[person] ?? []).filter(({ until }) => until > now);
}

/** `until` null shows it again. */
export function snooze(
  home: string,
  { person, id, until, now }: { person: Actor; id: string; until: string | null; now: string },
): readonly Snoozed[] {
  const all = read(home);
  const others = listSnoozed(home, person, now).filter((each) => each.id !== id);
  const own = until === null || until <= now ? others : [...others, { id, until }].slice(-AT_MOST);
  const kept = Object.entries(all).filter(([name]) => name !== person);
  replacePrivate(fileOf(home), JSON.stringify(Object.fromEntries([...kept, [person, own]])));
  return own;
}

function fileOf(home: string): string {
  return join(home, "snoozed.json");
}

function read(home: string): z.infer<typeof fileSchema> {
  try {
    const text = readFileSync(fileOf(home), "utf8");
    if (text.length > MAX_BYTES) return {};
    const parsed = fileSchema.safeParse(JSON.parse(text));
    return parsed.success ? parsed.data : {};
  } catch {
    return {};
  }
}
