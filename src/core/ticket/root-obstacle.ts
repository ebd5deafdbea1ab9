// The root obstacle of a waiting ticket: the first ticket along its dependencies that does not itself only wait.

import type { Obstacle, TicketPlan } from "./plan.ts";

/** A person follows no longer chain. */
const STEPS = 100;

/** Null if the ticket does not wait, or if what it waits for is what it names itself. */
export function rootObstacle({ tickets }: TicketPlan, id: string): Obstacle | null {
  const own = tickets.get(id);
  if (own?.state !== "waits") return null;
  const named = new Set(own.on.map(({ ticket }) => ticket));
  const seen = new Set([id]);
  const open = own.on.map(({ ticket }) => ticket);
  for (let next = open.shift(); next !== undefined && seen.size < STEPS; next = open.shift()) {
    const found = tickets.get(next);
    if (seen.has(next)) continue;
    seen.add(next);
    if (found === undefined) continue;
    if (found.state === "waits") open.unshift(...found.on.map(({ ticket }) => ticket));
    else if (NEEDS_SOMEBODY.has(found.state)) return named.has(next) ? null : { ticket: next, why: found.why };
  }
  return null;
}

const NEEDS_SOMEBODY: ReadonlySet<string> = new Set(["intervention", "awaiting-merge", "refused"]);
