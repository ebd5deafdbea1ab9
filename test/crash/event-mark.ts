// A short name for the content of an event, the same before it is stored and after it is read back, whatever the order of its keys.

import { createHash } from "node:crypto";
import type { RunEvent } from "../../src/core/run/event.ts";

export function eventMark(event: RunEvent): string {
  return createHash("sha256")
    .update(sortedJson(event) ?? "")
    .digest("hex")
    .slice(0, 20);
}

/** JSON with the keys of every object in order: equal text for equal content. */
export function sortedJson(value: unknown): string | undefined {
  return JSON.stringify(value, (_key, part: unknown) =>
    part !== null && typeof part === "object" && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
